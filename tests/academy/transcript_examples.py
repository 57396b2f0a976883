"""Example transcripts for tests and measurements of the viewer; nothing here is real."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

from academy import packs, transcripts
from academy.models import InstanceRecord
from tests import factories as make

HOSTILE = (
    '<img src=x onerror="document.title=1"> [go](javascript:alert(1)) '
    "<svg onload=alert(2)><script>alert(3)</script></svg> "
    "[open](data:text/html,<script>alert(4)</script>) "
    "<style>*{position:fixed;inset:0}</style> ![p](https://pictures.test/x.png)"
)


def png(width: int = 2, height: int = 2, colour: bytes = b"\xc0\x20\x20") -> bytes:
    """A picture of one colour."""
    rows = b"".join(b"\x00" + colour * width for _row in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def data_address(data: bytes, kind: str = "image/png") -> str:
    """Bytes as a data: address."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def record_with(*events: dict[str, Any], **execution: Any) -> InstanceRecord:
    """A stored record of these events; other parts of its line by name."""
    number = next(make.numbers)
    version = make.takeoff_version(1, slug=f"transcripts-{number}")
    line = make.execution("t-0", **({"events": list(events)} if events else {}), **execution)
    header = {"suite": f"{version.suite.slug}@1.0", "run_id": f"r-{number}"}
    run = make.run_of(make.record_files(make.line_run(line, **header), version))
    return InstanceRecord.objects.get(run=run)


def long_events(steps: int = 6_700, longest: int = 5_000_000) -> list[dict[str, Any]]:
    """A transcript of some 10 MB with one result of 5 MB on one line."""
    words = "the value of row 12 in this table is a plain number and the error is 0 data ok "
    events: list[dict[str, Any]] = []
    for place in range(steps):
        at = {"offset_ms": place * 40}
        if place % 4 == 0:
            events.append({"kind": "message", "role": "assistant", "text": words * 7, **at})
        elif place % 4 == 1:
            data = {"command": words * 2, "step": place, "flags": [1, 2, 3]}
            events.append({"kind": "tool_call", "tool": "bash", "data": data, **at})
        elif place % 4 == 2:
            events.append({"kind": "tool_result", "tool": "bash", "text": words * 20, **at})
        else:
            events.append({"kind": "thought", "text": words * 7, **at})
    if longest:
        middle = steps // 2 // 4 * 4 + 2
        whole = (words * (longest // len(words) + 1))[: longest - 6]
        events[middle]["text"] = f"{whole}needle"
    return events


def forget() -> None:
    """Forget what was opened before, so that the next page is the first one."""
    transcripts.kept.clear()
    packs.opened.clear()
