"""Addresses of review."""

from __future__ import annotations

from django.urls import include, path

from adjudication import report_views, seat_views, views

app_name = "adjudication"
urlpatterns = [
    path("", views.queue_list, name="queues"),
    path("history/", views.history, name="history"),
    path("practice/", views.practice_item, name="practice"),
    path("queues/<int:pk>/", views.queue_detail, name="queue"),
    path("queues/<int:pk>/claim/", views.claim, name="claim"),
    path("queues/<int:pk>/report/", report_views.queue_report, name="report"),
    path("items/<int:pk>/", views.item_detail, name="item"),
    path("seats/<int:pk>/", seat_views.seat_detail, name="seat"),
    path("seats/<int:pk>/evidence/", seat_views.seat_evidence, name="evidence"),
    path("seats/<int:pk>/raw/", seat_views.seat_raw, name="raw"),
    path("seats/<int:pk>/files/<int:asset>.png", seat_views.seat_asset, name="asset"),
    path("seats/<int:pk>/pictures/<slug:digest>.png", seat_views.seat_picture, name="seat-picture"),
    path("items/<int:pk>/pictures/<slug:digest>.png", views.item_picture, name="item-picture"),
    path("seats/<int:pk>/draft/", seat_views.draft, name="draft"),
    path("seats/<int:pk>/submit/", seat_views.submit, name="submit"),
    path("seats/<int:pk>/undo/", seat_views.undo, name="undo"),
    path("seats/<int:pk>/release/", seat_views.release, name="release"),
    path("seats/<int:pk>/skip/", seat_views.skip, name="skip"),
    path("seats/<int:pk>/defer/", seat_views.defer, name="defer"),
    path("seats/<int:pk>/escalate/", seat_views.escalate, name="escalate"),
    path("seats/<int:pk>/send-back/", seat_views.send_back, name="send-back"),
    path("seats/<int:pk>/not-blind/", seat_views.report_not_blind, name="not-blind"),
    path("seats/<int:pk>/suggestion/", seat_views.open_suggestion, name="suggestion"),
    path("seats/<int:pk>/withdraw/", seat_views.withdraw, name="withdraw"),
    path("", include("adjudication.subject_urls")),
]
