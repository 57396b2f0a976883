"""Addresses beside the boards: comparison, entrants, tasks, method, search, certificates."""

from __future__ import annotations

from django.urls import path

from leaderboard import certificate_views, site_views

urlpatterns = [
    path("compare/", site_views.compare, name="compare"),
    path("method/", site_views.method, name="method"),
    path("certificates/", certificate_views.certificate_list, name="certificates"),
    path("certificates/keys.json", certificate_views.keys, name="certificate-keys"),
    path("certificates/verify/", certificate_views.verify, name="certificate-verify"),
    path("certificates/check/", certificate_views.certificate_check, name="certificate-check"),
    path("certificates/<slug:serial>/", certificate_views.certificate_detail, name="certificate"),
    path(
        "certificates/<slug:serial>.json",
        certificate_views.certificate_json,
        name="certificate-json",
    ),
    path(
        "certificates/<slug:serial>.svg",
        certificate_views.certificate_badge,
        name="certificate-badge",
    ),
    path("search/", site_views.search, name="search"),
    path("entrants/<slug:slug>/", site_views.entrant_detail, name="entrant"),
    path("suites/<slug:slug>/<str:name>/tasks/<int:ordinal>/", site_views.task_detail, name="task"),
]
