"""Samples of Doc Bridge, read as its tests need them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from academy import formats
from academy.bundle import SuiteSpec
from academy.formats.doc_bridge import FORMAT
from academy.formats.reading import Files

SAMPLES = Path(formats.__path__[0]) / "doc_bridge" / "samples" / "accept"
Json = dict[str, Any]


def sample(name: str) -> dict[str, bytes]:
    root = SAMPLES / name
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def parse_suite(contents: Mapping[str, bytes]) -> SuiteSpec:
    assert FORMAT.parse_suite is not None
    return FORMAT.parse_suite(Files.of(contents)).suites[0]
