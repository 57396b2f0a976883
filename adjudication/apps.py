"""The adjudication app."""

from __future__ import annotations

from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    """People decide what scorers cannot."""

    name = "adjudication"
