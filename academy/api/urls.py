"""Addresses of the API, below /api/v1/."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from academy.api import views

app_name = "api"
VERSION = "suites/<slug:slug>/versions/<str:name>/"
urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("versions/", views.VersionList.as_view(), name="versions"),
    path(VERSION, views.VersionDetail.as_view(), name="version"),
    path(f"{VERSION}passes/", views.PassList.as_view(), name="passes"),
    path(f"{VERSION}passes/<int:number>/", views.PassDetail.as_view(), name="pass"),
    path(f"{VERSION}passes/<int:number>/results/", views.ResultList.as_view(), name="results"),
]
