"""Celery jobs of review: what beat asks for."""

from __future__ import annotations

from celery import shared_task

from adjudication import digesting


@shared_task
def owe_digests() -> None:
    """Owe the digests of the day. Safe to run at any time, any number of times."""
    digesting.owe_digests()
