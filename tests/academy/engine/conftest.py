"""The published study and its pilot, as they are imported from their real documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from academy import intake
from academy.importing import ImportOptions
from academy.models import SuiteVersion


@pytest.fixture
def folder(conformance_data: Path) -> Path:
    return conformance_data / "docbridge"


@pytest.fixture
def full(folder: Path) -> SuiteVersion:
    intake.import_suite_path(
        folder / "task-suite-v1.json", options=ImportOptions(rename=("study", "1"), publish=True)
    )
    return SuiteVersion.objects.get(suite__slug="study")


@pytest.fixture
def pilot(folder: Path, tmp_path: Path) -> SuiteVersion:
    for name in ("task-suite", "run-plan"):
        document = folder / f"phase4-public-pilot-{name}-v1.json"
        (tmp_path / document.name).write_bytes(document.read_bytes())
    intake.import_suite_path(tmp_path, options=ImportOptions(rename=("pilot", "1"), publish=True))
    return SuiteVersion.objects.get(suite__slug="pilot")
