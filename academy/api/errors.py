"""One handler for everything an endpoint refuses: problem+json."""

from __future__ import annotations

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
        response.data = {"status": response.status_code, "detail": response.data}
        response.content_type = "application/problem+json"
    return response
