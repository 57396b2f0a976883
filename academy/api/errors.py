"""One handler for everything an endpoint refuses: problem+json."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from rest_framework.response import Response
from rest_framework.views import exception_handler

from academy.errors import AcademyError, FormatError


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """An AcademyError is the client's to mend: 400 with the places of its problems."""
    if isinstance(error, FormatError):
        body: dict[str, Any] = {
            "title": "The files cannot be read",
            "status": 400,
            "detail": str(error),
            "problems": [problem.as_row() for problem in error.problems],
            "total": error.total,
        }
        return Response(body, status=400, content_type="application/problem+json")
    if isinstance(error, AcademyError):
        body = {"title": "Refused", "status": 400, "detail": str(error)}
        return Response(body, status=400, content_type="application/problem+json")
    response = exception_handler(error, context)
    if response is not None:
        code = response.status_code
        response.data = {
            "title": HTTPStatus(code).phrase,
            "status": code,
            "detail": detail_of(response.data),
        }
        response.content_type = "application/problem+json"
    return response


def detail_of(data: Any) -> Any:
    """What the framework says, without its wrapping; errors of fields stay by field."""
    if isinstance(data, dict) and set(data) == {"detail"}:
        return str(data["detail"])
    return data
