"""Addresses of the core's pages."""

from __future__ import annotations

from django.urls import path
from django.urls.resolvers import URLPattern

app_name = "academy"
urlpatterns: list[URLPattern] = []
path  # noqa: B018
