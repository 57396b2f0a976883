"""What every page knows: who is here, what they may do, and where they are."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from academy.querysets import has_role


def site(request: HttpRequest) -> dict[str, Any]:
    """Roles of the person and the navigation with the open part marked."""
    user = getattr(request, "user", None)
    sees_review = has_role(user, "reviewer", "adjudicator", "curator", "auditor")
    places = [
        ("Boards", reverse("leaderboard:boards"), "/boards/"),
        ("Compare", reverse("compare"), "/compare/"),
        ("Suites", reverse("academy:suites"), "/suites/"),
        ("Runs", reverse("academy:runs"), "/runs/"),
    ]
    if sees_review:
        places.append(("Review", reverse("adjudication:queues"), "/review/"))
    if has_role(user, "curator") and getattr(user, "is_staff", False):
        places.append(("Import", reverse("admin:academy_suite_import"), "/admin/"))
    places.append(("Method", reverse("method"), "/method/"))
    return {
        "is_curator": has_role(user, "curator"),
        "sees_review": sees_review,
        "navigation": [
            {"label": label, "url": url, "current": request.path.startswith(prefix)}
            for label, url, prefix in places
        ],
    }
