"""Addresses of boards."""

from __future__ import annotations

from django.urls import path

from leaderboard import views

app_name = "leaderboard"
urlpatterns = [
    path("", views.board_list, name="boards"),
    path("<slug:slug>/", views.board_detail, name="board"),
    path("<slug:slug>/standings.json", views.board_json, name="board-json"),
    path("<slug:slug>/standings.csv", views.board_file, {"form": "csv"}, name="board-csv"),
    path(
        "<slug:slug>/standings.parquet", views.board_file, {"form": "parquet"}, name="board-parquet"
    ),
    path("<slug:slug>/standings.md", views.board_markdown, name="board-md"),
    path("<slug:slug>/badge.svg", views.board_badge, name="badge"),
    path("<slug:slug>/embed/", views.board_embed, name="embed"),
    path("<slug:slug>/snapshots/", views.snapshot_list, name="snapshots"),
    path("<slug:slug>/snapshots/<int:number>/", views.snapshot_detail, name="snapshot"),
    path("<slug:slug>/snapshots/<int:number>/standings.json", views.board_json),
    path("<slug:slug>/snapshots/<int:number>/standings.csv", views.board_file, {"form": "csv"}),
    path(
        "<slug:slug>/snapshots/<int:number>/standings.parquet",
        views.board_file,
        {"form": "parquet"},
    ),
    path("<slug:slug>/snapshots/<int:number>/cost.svg", views.cost_svg, name="cost-svg"),
]
