"""Addresses of review."""

from __future__ import annotations

from django.urls import path

from adjudication import views

app_name = "adjudication"
urlpatterns = [
    path("", views.queue_list, name="queues"),
    path("queues/<int:pk>/claim/", views.claim, name="claim"),
    path("seats/<int:pk>/", views.seat_detail, name="seat"),
    path("seats/<int:pk>/files/<int:asset>.png", views.seat_asset, name="asset"),
    path("seats/<int:pk>/draft/", views.draft, name="draft"),
    path("seats/<int:pk>/submit/", views.submit, name="submit"),
    path("seats/<int:pk>/undo/", views.undo, name="undo"),
    path("seats/<int:pk>/release/", views.release, name="release"),
    path("seats/<int:pk>/skip/", views.skip, name="skip"),
]
