"""Addresses beside the boards: comparison, entrants, tasks, method, search."""

from __future__ import annotations

from django.urls import path

from leaderboard import site_views

urlpatterns = [
    path("compare/", site_views.compare, name="compare"),
    path("method/", site_views.method, name="method"),
    path("search/", site_views.search, name="search"),
    path("entrants/<slug:slug>/", site_views.entrant_detail, name="entrant"),
    path("suites/<slug:slug>/<str:name>/tasks/<int:ordinal>/", site_views.task_detail, name="task"),
]
