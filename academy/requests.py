"""The request as views see it, with what the htmx middleware adds."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class SiteRequest(HttpRequest):
    """A request that says whether htmx asks."""

    htmx: HtmxDetails
    user: Any
