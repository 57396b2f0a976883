"""Addresses of boards."""

from __future__ import annotations

from django.urls import path

from leaderboard import views

app_name = "leaderboard"
urlpatterns = [
    path("", views.board_list, name="boards"),
    path("<slug:slug>/", views.board_detail, name="board"),
    path("<slug:slug>/standings.json", views.board_json, name="board-json"),
    path("<slug:slug>/standings.csv", views.board_csv, name="board-csv"),
]
