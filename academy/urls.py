"""Addresses of the core's pages."""

from __future__ import annotations

from django.urls import path

from academy import (
    curating_views,
    download_views,
    export_views,
    import_views,
    pass_views,
    study_views,
    transcript_views,
    views,
)

app_name = "academy"
urlpatterns = [
    path("", views.home, name="home"),
    path("favicon.ico", views.favicon),
    path("schemas/", views.schema_list, name="schemas"),
    path("schemas/<slug:name>.json", views.schema_detail, name="schema"),
    path("healthz", views.health, name="health"),
    path("suites/", views.suite_list, name="suites"),
    path("suites/<slug:slug>/", views.suite_detail, name="suite"),
    path("suites/<slug:slug>/<str:name>/", views.version_detail, name="version"),
    path("suites/<slug:slug>/<str:name>/passes/", pass_views.pass_list, name="passes"),
    path("suites/<slug:slug>/<str:name>/plan/", study_views.plan_detail, name="plan"),
    path("suites/<slug:slug>/<str:name>/keys/", curating_views.key_list, name="keys"),
    path("suites/<slug:slug>/<str:name>/judges/", curating_views.judge_list, name="judges"),
    path("runs/", views.run_list, name="runs"),
    path("runs/<int:pk>/", views.run_detail, name="run"),
    path("runs/<int:pk>/progress/", views.run_progress, name="run-progress"),
    path("runs/<int:pk>/scoring/", pass_views.run_scoring, name="run-scoring"),
    path("runs/<int:pk>/own.zip", download_views.run_own, name="run-own"),
    path("runs/<int:pk>/as-<slug:form>.zip", download_views.run_as, name="run-as"),
    path("runs/<int:pk>/scores.csv", download_views.run_csv, name="run-csv"),
    path("runs/<int:pk>/scores.json", download_views.run_json, name="run-json"),
    path("exports/<slug:kind>/<int:subject>/", export_views.export_ask, name="export-ask"),
    path("exports/<uuid:pk>/", export_views.export_detail, name="export"),
    path("exports/<uuid:pk>/file", export_views.export_file, name="export-file"),
    path("exports/<uuid:pk>/sha256", export_views.export_sum, name="export-sum"),
    path("imports/runs/", import_views.run_import, name="import-runs"),
    path("imports/<uuid:pk>/", import_views.import_detail, name="import"),
    path("records/<int:pk>/", views.record_detail, name="record"),
    path("records/<int:pk>/raw/", views.record_raw, name="record-raw"),
    path(
        "records/<int:pk>/pictures/<slug:digest>.png",
        transcript_views.record_picture,
        name="record-picture",
    ),
    path("assets/<int:pk>.png", views.asset_copy, name="asset"),
]
