"""Pages kept for readers whom nobody knows: made once, and sent as they are to all who ask."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from django.contrib.messages.storage.cookie import CookieStorage
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from redis.exceptions import RedisError

KEPT_SECONDS = 600


def kept(request: HttpRequest, etag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    """The page of this ETag as it was made before, else as it is made now.

    Only at the bare address, since anybody can think of any number of queries, and never for whom
    the page says something of their own: who signed in, or was told something. Where the cache does
    not answer, pages are made each time.
    """
    is_own = request.user.is_authenticated or CookieStorage.cookie_name in request.COOKIES
    if is_own or request.META.get("QUERY_STRING"):
        return make()
    name = f"page:{etag}"
    with suppress(RedisError):
        page: bytes | None = cache.get(name)
        if page is not None:
            return HttpResponse(page)
    response = make()
    with suppress(RedisError):
        cache.set(name, response.content, KEPT_SECONDS)
    return response
