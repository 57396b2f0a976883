"""Addresses of the endpoints of boards, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from leaderboard import api

urlpatterns = [
    path("", api.Index.as_view(), name="api-index"),
    path("boards/", api.BoardList.as_view(), name="board-list"),
    path("boards/<slug:slug>/", api.BoardDetail.as_view(), name="board-detail"),
    path("boards/<slug:slug>/standings/", api.Standings.as_view(), name="board-standings"),
    path("boards/<slug:slug>/snapshots/", api.SnapshotList.as_view(), name="board-snapshots"),
    path(
        "boards/<slug:slug>/snapshots/<int:number>/",
        api.Standings.as_view(),
        name="board-snapshot",
    ),
]
