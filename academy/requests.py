"""The request as views see it, with what the htmx middleware adds."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class SiteRequest(HttpRequest):
    """A request that says whether htmx asks."""

    htmx: HtmxDetails
    user: Any


def asks_part(request: SiteRequest, part: str) -> bool:
    """Whether htmx asks for the part of the page that has this id, and not for the page itself."""
    asked = request.htmx
    return bool(asked) and asked.target == part and not asked.history_restore_request
