"""What every page knows: who is here and what they may do."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from academy.querysets import has_role


def site(request: HttpRequest) -> dict[str, Any]:
    """Roles of the person and the part of the site that is open, for the top bar."""
    user = getattr(request, "user", None)
    match = request.resolver_match
    return {
        "is_curator": has_role(user, "curator"),
        "is_reviewer": has_role(user, "reviewer", "adjudicator"),
        "sees_review": has_role(user, "reviewer", "adjudicator", "curator", "auditor"),
        "here": f"{match.app_name}:{match.url_name}" if match else "",
    }
