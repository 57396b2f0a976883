"""Every address of the site."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("login/", auth_views.LoginView.as_view(template_name="academy/login.html"), name="login"),
    path("logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("review/", include("adjudication.urls")),
    path("boards/", include("leaderboard.urls")),
    path("api/v1/", include("academy.api.urls")),
    path("api/v1/", include("leaderboard.api_urls")),
    path("", include("leaderboard.site_urls")),
    path("", include("academy.urls")),
]
