"""Versions and runs that are scored."""

from __future__ import annotations

import pytest

from academy.models import Run, SuiteVersion
from tests import factories as make


@pytest.fixture
def version() -> SuiteVersion:
    """A draft: a published version has runs of its own, which the site makes."""
    return make.takeoff_version(4, publish=False)


@pytest.fixture
def public() -> SuiteVersion:
    return make.takeoff_version(4)


@pytest.fixture
def rubric_run() -> Run:
    """A run on three rubric tasks: one judged as met, one as half met, one not judged."""
    version = make.rubric_version(3)
    contents = make.line_run(
        make.judged("q-0", True, True), make.judged("q-1", True, False), make.judged("q-2")
    )
    run = make.run_of(make.record_files(contents, version))
    make.score_all()
    return run
