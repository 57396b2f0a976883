"""Addresses of review."""

from __future__ import annotations

from django.urls import path

from adjudication import views

app_name = "adjudication"
urlpatterns = [path("", views.queue_list, name="queues")]
