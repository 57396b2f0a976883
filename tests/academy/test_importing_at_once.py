"""Imports beside each other: one stores what both name, and none meets an error of the database."""

from __future__ import annotations

from typing import Any

import pytest

from academy.errors import AcademyError
from academy.models import SuiteVersion
from tests import factories as make
from tests.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


def outcome_of(contents: dict[str, Any], version: str) -> str:
    """What becomes of an import, or "refused"."""
    try:
        report = make.import_files(contents, rename=("example", version))
    except AcademyError as error:
        assert "is known with other content" in str(error)
        return "refused"
    return report.suites[0].outcome


def test_one_version_that_is_imported_at_once_is_stored_once() -> None:
    same = make.takeoff_files(12)
    other = make.takeoff_files([make.takeoff_task("t-0", 100, prompt="Measure something else.")])
    make.import_files(same)
    for version, contents, told in (
        ("2.0", [same, same], ["created", "unchanged"]),
        ("3.0", [same, other], ["created", "refused"]),
    ):
        outcomes = in_threads(2, lambda n, v=version, c=contents: outcome_of(c[n], v))  # type: ignore[misc]
        assert sorted(outcomes) == told
        assert SuiteVersion.objects.filter(name=version).count() == 1
