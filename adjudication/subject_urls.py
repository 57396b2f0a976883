"""Addresses of findings, appeals, measured keys, invitations and preferences."""

from __future__ import annotations

from django.urls import path

from adjudication import (
    appeal_views,
    finding_views,
    invitation_views,
    key_views,
    preference_views,
)

urlpatterns = [
    path("findings/<int:pk>/", finding_views.finding_detail, name="finding"),
    path("appeals/", appeal_views.appeal_list, name="appeals"),
    path("appeals/<int:pk>/", appeal_views.appeal_detail, name="appeal"),
    path("appeals/<int:pk>/withdraw/", appeal_views.withdraw, name="withdraw-appeal"),
    path("appeals/<int:pk>/pass/", appeal_views.name_pass, name="appeal-pass"),
    path("appeals/<int:pk>/version/", appeal_views.name_version, name="appeal-version"),
    path("runs/<int:pk>/appeals/", appeal_views.run_appeals, name="run-appeals"),
    path("records/<int:pk>/appeal/", appeal_views.record_appeal, name="appeal-record"),
    path("keys/<slug:slug>/<str:name>/", key_views.measure_keys, name="measure-keys"),
    path("invitations/", invitation_views.invitation_list, name="invitations"),
    path("invitations/<int:pk>/revoke/", invitation_views.revoke, name="revoke-invitation"),
    path("invited/<str:token>/", invitation_views.invitation_detail, name="invitation"),
    path("preferences/", preference_views.preferences, name="preferences"),
    path("unsubscribe/<str:token>/", preference_views.unsubscribe, name="unsubscribe"),
]
