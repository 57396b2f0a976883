"""Pages kept for readers whom nobody knows: made once, and sent as they are to all who ask."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.messages.storage.cookie import CookieStorage
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse


def kept(request: HttpRequest, etag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    """The page of this ETag as this process made it before, else as it is made now.

    Only at the bare address, since anybody can think of any number of queries, and never for whom
    the page says something of their own: who signed in, or was told something.
    """
    is_own = request.user.is_authenticated or CookieStorage.cookie_name in request.COOKIES
    if is_own or request.META.get("QUERY_STRING"):
        return make()
    page: bytes | None = caches["pages"].get(etag)
    if page is not None:
        return HttpResponse(page)
    response = make()
    caches["pages"].set(etag, response.content)
    return response
