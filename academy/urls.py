"""Addresses of the core's pages."""

from __future__ import annotations

from django.urls import path

from academy import views

app_name = "academy"
urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("suites/", views.suite_list, name="suites"),
    path("suites/<slug:slug>/", views.suite_detail, name="suite"),
    path("suites/<slug:slug>/<str:name>/", views.version_detail, name="version"),
    path("runs/", views.run_list, name="runs"),
    path("runs/<int:pk>/", views.run_detail, name="run"),
    path("runs/<int:pk>/progress/", views.run_progress, name="run-progress"),
    path("records/<int:pk>/", views.record_detail, name="record"),
    path("records/<int:pk>/raw/", views.record_raw, name="record-raw"),
]
