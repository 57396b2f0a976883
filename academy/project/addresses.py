"""Addresses that nothing stored can have, and those that only take forms."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render


def without_null(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[..., HttpResponse]:
    """Say 404 to a path with U+0000, and take it out of what the query asks for.

    The database refuses to ask for such a text.
    """

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


def with_page(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[..., HttpResponse]:
    """Lead on whoever opens an address that only takes a form; the bare answer is an empty page.

    It happens without doing anything odd: a form came back with what is wrong, and its address is
    opened again, or one signs in after sending it.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = answer(request)
        if request.method != "GET" or response.status_code != 405 or response.content:
            return response
        above = request.path.rstrip("/").rpartition("/")[0]
        page = render(request, "405.html", {"above": f"{above}/"}, status=405)
        page["Allow"] = response["Allow"]
        return page

    return middleware
