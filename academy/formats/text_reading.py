"""Bytes to text, pointers, and what a text column cannot hold."""

from __future__ import annotations

import re

from academy.errors import FormatError, Problems
from academy.formats.limits import LIMITS, Limits

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def pointer(*parts: str | int) -> str:
    """The JSON pointer (RFC 6901) of keys and positions; no parts give `""`, the whole document."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def read_text(data: bytes, *, path: str, limits: Limits = LIMITS) -> str:
    """UTF-8 text without a byte order mark. Raises FormatError with the line and byte offset."""
    if len(data) > limits.document_bytes:
        raise FormatError.at(path, "size", f"the file is larger than {limits.document_bytes} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        raise FormatError.at(
            path, "byte-order-mark", "the text begins with a byte order mark", line=1
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {data[error.start]:#04x} at offset {error.start} is not UTF-8"
        raise FormatError.at(path, "encoding", message, line=line) from None


def check_text(
    value: str, *, path: str, pointer: str, problems: Problems, line: int | None = None
) -> bool:
    """Whether a text column can hold this; if not, the reason is noted."""
    found = UNSTORABLE.search(value)
    if found is None:
        return True
    what = "U+0000" if found[0] == "\x00" else f"the lone surrogate U+{ord(found[0]):04X}"
    problems.error(path, "text", f"the text holds {what}", line=line, pointer=pointer)
    return False
