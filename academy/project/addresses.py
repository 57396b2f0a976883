"""Addresses with U+0000: nothing that is stored can have them, and the database refuses to ask."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse


def without_null(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[..., HttpResponse]:
    """Say 404 to a path with U+0000, and take it out of what the query asks for."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info:
            raise Http404
        if "%00" in request.META.get("QUERY_STRING", ""):
            asked = request.GET.copy()
            for name, values in request.GET.lists():
                asked.setlist(name, [value.replace("\0", "") for value in values])
            asked._mutable = False
            request.GET = asked  # type: ignore[assignment]
        return answer(request)

    return middleware
