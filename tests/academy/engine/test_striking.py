"""A criterion is struck by two people, and one decision scores one record, pass by pass."""

from __future__ import annotations

import pytest

from academy import deciding, passes
from academy.errors import AcademyError
from academy.models import Criterion, InstanceRecord, Run, Score, SuiteVersion, Work
from tests import factories as make

pytestmark = pytest.mark.django_db


def struck_version() -> tuple[SuiteVersion, Run, Criterion]:
    version = make.rubric_version(2, criteria=2)
    run = make.run_of(
        make.record_files(
            make.line_run(
                make.judged("q-0", True, False), make.judged("q-1", True, True), suite="rubrics@1"
            ),
            version,
        )
    )
    make.score_all()
    return version, run, Criterion.objects.get(task__external_id="q-0", key="R2")


def call_defective(record: InstanceRecord, criterion: Criterion, name: str) -> None:
    deciding.record_decisions(
        record,
        [deciding.Verdict(criterion=criterion, state="defective", reason="cannot be met")],
        source="person",
        person=make.person(name, "reviewer"),
    )


def test_a_criterion_is_struck_by_two_people_in_a_new_pass_for_every_run() -> None:
    version, run, criterion = struck_version()
    silent = make.run_of(
        make.record_files(
            make.line_run(
                {"task": "q-0", "status": "answered", "answer": "done"},
                suite="rubrics@1",
                run_id="silent",
                entrant={"name": "Silent"},
            ),
            version,
        )
    )
    record = InstanceRecord.objects.of_run(run.pk).order_by("id")[0]
    call_defective(record, criterion, "one")
    with pytest.raises(AcademyError, match="only when 2 people call it defective; 1 did"):
        passes.stage(version, reason="defective", strike=[criterion.pk])
    call_defective(record, criterion, "two")
    staged = passes.stage(version, reason="defective", strike=[criterion.pk])
    make.score_all()
    assert staged.struck == [criterion.pk]
    for held in (run, silent):
        score = Score.objects.get(
            record__run=held,
            record__task__external_id="q-0",
            metric__key="rubric",
            mode="strict",
            scoring_pass=staged,
            current=True,
        )
        assert score.measures["left_out"] == 1, "struck though nobody decided it on this run"


def test_one_decision_scores_just_its_record_in_published_and_staged_passes() -> None:
    rubrics, run, criterion = struck_version()
    record = InstanceRecord.objects.of_run(run.pk).order_by("id")[0]
    call_defective(record, criterion, "one")
    call_defective(record, criterion, "two")
    passes.stage(rubrics, reason="defective", strike=[criterion.pk])
    make.score_all()
    untouched = InstanceRecord.objects.of_run(run.pk).order_by("id")[1]
    before = list(Score.objects.filter(record=untouched).order_by("pk").values())
    other = Criterion.objects.get(task__external_id="q-0", key="R1")
    for name in ("three", "four"):
        deciding.record_decisions(
            record,
            [deciding.Verdict(criterion=other, value=True)],
            source="person",
            person=make.person(name, "reviewer"),
        )
    owed = Work.objects.filter(state="ready", kind="score").values_list("key", flat=True)
    assert sorted(owed) == sorted(f"score:{p.pk}:record:{record.pk}" for p in rubrics.passes.all())
    make.score_all()
    assert list(Score.objects.filter(record=untouched).order_by("pk").values()) == before
