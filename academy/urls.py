"""Addresses of the core's pages."""

from __future__ import annotations

from django.urls import path

from academy import download_views, pass_views, views

app_name = "academy"
urlpatterns = [
    path("", views.home, name="home"),
    path("schemas/", views.schema_list, name="schemas"),
    path("schemas/<slug:name>.json", views.schema_detail, name="schema"),
    path("healthz", views.health, name="health"),
    path("suites/", views.suite_list, name="suites"),
    path("suites/<slug:slug>/", views.suite_detail, name="suite"),
    path("suites/<slug:slug>/<str:name>/", views.version_detail, name="version"),
    path("suites/<slug:slug>/<str:name>/passes/", pass_views.pass_list, name="passes"),
    path("runs/", views.run_list, name="runs"),
    path("runs/<int:pk>/", views.run_detail, name="run"),
    path("runs/<int:pk>/progress/", views.run_progress, name="run-progress"),
    path("runs/<int:pk>/own.zip", download_views.run_own, name="run-own"),
    path("runs/<int:pk>/as-<slug:form>.zip", download_views.run_as, name="run-as"),
    path("runs/<int:pk>/scores.csv", download_views.run_csv, name="run-csv"),
    path("runs/<int:pk>/scores.json", download_views.run_json, name="run-json"),
    path("records/<int:pk>/", views.record_detail, name="record"),
    path("records/<int:pk>/raw/", views.record_raw, name="record-raw"),
    path("assets/<int:pk>.png", views.asset_copy, name="asset"),
]
