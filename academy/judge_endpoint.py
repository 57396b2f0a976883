"""Asks an endpoint that speaks the chat protocol of OpenAI: one call, with hard limits."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from academy.errors import AcademyError

MOST_BYTES = 2**20
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TRY_AGAIN = (408, 409, 425, 429)


class UnavailableError(Exception):
    """The endpoint does not answer now; it may later."""


class RefusedError(AcademyError):
    """The endpoint will not answer this, however often it is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a judge is asked, and how long one call may take. The key is in no text of this."""

    url: str
    model: str
    key: str = ""
    seconds: float = 60.0

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of an answer and what it used."""

    text: str
    tokens_in: int
    tokens_out: int


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An endpoint that sends elsewhere is not the one that was named."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


OPENER = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))


def check_address(url: str) -> None:
    """Raise AcademyError for an address that is no https, except on this machine."""
    parts = urlsplit(url)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not safe or not parts.hostname or parts.username:
        raise AcademyError(f"{url!r} is no address of a judge: https, without a name and password.")


def ask(endpoint: Endpoint, messages: Sequence[dict[str, str]]) -> Reply:
    """One answer. Raises UnavailableError when it may come later, RefusedError when it will not."""
    check_address(endpoint.url)
    request = urllib.request.Request(
        f"{endpoint.url.rstrip('/')}/chat/completions",
        data=json.dumps(
            {"model": endpoint.model, "messages": list(messages), "temperature": 0}
        ).encode(),
        headers={
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}),
        },
    )
    until = time.monotonic() + endpoint.seconds
    try:
        with OPENER.open(request, timeout=endpoint.seconds) as response:
            body = _read(response, until)
    except urllib.error.HTTPError as error:
        with error:
            if error.code in TRY_AGAIN or error.code >= 500:
                raise UnavailableError(f"the endpoint answered {error.code}") from None
            raise RefusedError(f"The endpoint refused the call with status {error.code}.") from None
    except (OSError, HTTPException) as error:
        raise UnavailableError(f"the endpoint did not answer: {type(error).__name__}") from None
    return read_reply(body, endpoint.model)


def _read(response: Any, until: float) -> bytes:
    """The whole body, up to a size, before the time is up even when it drips."""
    parts, size = [], 0
    while part := response.read1(65536):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise UnavailableError("the answer is too long")
        if time.monotonic() > until:
            raise UnavailableError("the answer took too long")
    return b"".join(parts)


def read_reply(body: bytes, model: str) -> Reply:
    """The answer in a response. Raises UnavailableError for a response that is none, and
    RefusedError when another model answered or the model declined."""
    try:
        found = json.loads(body)
        message = found["choices"][0]["message"]
        text, refusal = message.get("content"), message.get("refusal")
        answered_by = found.get("model", model)
        usage = found.get("usage") or {}
        tokens = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UnavailableError("the response is not of the chat protocol") from None
    if not isinstance(answered_by, str) or not answered_by.startswith(model):
        raise RefusedError(f"Another model answered than {model}, which was asked.")
    if refusal or not isinstance(text, str):
        raise RefusedError("The model declined to judge.")
    return Reply(text, max(tokens[0], 0), max(tokens[1], 0))
