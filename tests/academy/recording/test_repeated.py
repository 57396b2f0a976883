"""What comes again as something else: each place is told, and what is stored stays."""

from __future__ import annotations

from typing import Any

import pytest

from academy.bundle import ReportedSpec
from academy.errors import FormatError
from academy.models import ReportedScore, SuiteVersion
from tests import factories as make
from tests.academy.recording.making import lines
from tests.academy.recording.test_refusals import record_specs, spec

pytestmark = pytest.mark.django_db


def piece(value: float, *more: dict[str, Any]) -> Any:
    """A piece of an open run that reports a score of its first task."""
    scored = make.execution("t-0", scores=[{"metric": "ape", "value": value}])
    return lines(scored, *more, closed=False)


def test_a_reported_score_that_comes_again_as_another_is_told_and_stays(
    version: SuiteVersion,
) -> None:
    make.record_files(piece(4), version)
    report = make.record_files(piece(5, make.execution("t-1")), version)
    assert [(run.outcome, run.new_records) for run in report.runs] == [("extended", 1)]
    (told,) = [notice for notice in report.notices if notice.rule == "reported-kept"]
    assert told.line == 2
    assert "the ape of task t-0 is stored as 4 and stays so; this upload reports 5" in told.message
    assert ReportedScore.objects.get().value == 4


def test_a_reported_score_that_comes_again_as_it_was_is_nothing_to_tell(
    version: SuiteVersion,
) -> None:
    make.record_files(piece(4), version)
    report = make.record_files(piece(4, make.execution("t-1")), version)
    assert [notice.rule for notice in report.notices] == []


def test_every_record_that_cannot_be_kept_is_named_at_once(version: SuiteVersion) -> None:
    endless = (ReportedSpec(metric="m" * 300, value=1),)
    before = make.whole_database()
    with pytest.raises(FormatError) as refused:
        record_specs(
            version,
            spec("t-0", line=2, steps=2**31),
            spec("nobody-knows", line=3),
            spec("t-1", line=4, replicate=-1),
            spec("t-2", line=5, reported=endless),
        )
    assert [(one.line, one.rule) for one in refused.value.problems] == [
        (2, "number-range"),
        (3, "unknown-task"),
        (4, "record-identity"),
        (5, "metric-name"),
    ]
    assert make.changed_tables(before) == []
