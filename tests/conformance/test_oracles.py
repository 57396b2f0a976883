"""Every case of every oracle agrees: one test for each format and list of cases.

The tests are there where ACADEMY_CONFORMANCE_DATA names the data; elsewhere one says that it is
missing. `python -m tests.conformance DATA` counts the same cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.__main__ import MODULES, lists_in
from tests.conformance.base import run_list

pytestmark = pytest.mark.data
DATA = Path(os.environ.get("ACADEMY_CONFORMANCE_DATA") or "/nowhere")


def places() -> Iterator[tuple[str, str]]:
    """Format folder and list for every list of the data that is here."""
    for folder in sorted(DATA.iterdir()) if DATA.is_dir() else ():
        if folder.name in MODULES:
            yield from ((folder.name, found.key) for found in lists_in(folder))


@pytest.mark.parametrize(("name", "key"), list(places()))
def test_every_case_of_a_list_agrees(conformance_data: Path, name: str, key: str) -> None:
    (found,) = [one for one in lists_in(conformance_data / name) if one.key == key]
    tally = run_list(found.name, found.listed, found.check, found.context)
    assert tally.cases
    assert tally.reasons == {}


def test_every_format_with_an_oracle_is_here(conformance_data: Path) -> None:
    assert {path.name for path in conformance_data.iterdir() if path.is_dir()} >= set(MODULES)
