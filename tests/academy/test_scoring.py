"""Scores follow from records, keys and decisions alone: again, in any order, in any pieces."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from academy import deciding, registry, scheduling, scoring, summing, work
from academy.aggregation import ItemState
from academy.deciding import Verdict
from academy.errors import AcademyError
from academy.models import (
    Criterion,
    Decision,
    InstanceRecord,
    Pack,
    Run,
    RunResult,
    RunVector,
    Score,
    SuiteVersion,
    Summary,
    Work,
)
from academy.packs import FRAME_BYTES
from academy.scorers.base import Mode
from tests import factories as make

pytestmark = pytest.mark.django_db

Values = list[tuple[Any, ...]]


def scores_of(run: Run, *, mode: str = "strict") -> Values:
    """What stands of a run's scores, in order."""
    return list(
        Score.objects.filter(record__run=run, current=True, mode=mode)
        .order_by("record_id", "metric__ordinal")
        .values_list("record__task__external_id", "metric__key", "status", "value", "passed")
    )


def results_of(run: Run) -> dict[tuple[str, str], tuple[Any, ...]]:
    """The results over all tasks by metric and mode."""
    rows = RunResult.objects.filter(run=run, slice="", origin="computed")
    return {
        (row.metric.key, row.mode): (row.value, row.n, row.waiting, row.missing, row.unscorable)
        for row in rows.select_related("metric")
    }


def everything(run: Run) -> list[Any]:
    """All that scoring makes of a run, without ids and times."""
    vectors = RunVector.objects.filter(run=run).order_by("metric__ordinal", "mode")
    results = RunResult.objects.filter(run=run).order_by("metric__ordinal", "mode", "slice")
    return [
        scores_of(run),
        scores_of(run, mode="reference"),
        [(bytes(row.values), bytes(row.states)) for row in vectors],
        list(results.values_list("mode", "slice", "value", "low", "high", "n", "note", "details")),
        list(
            Summary.objects.filter(run=run).values_list(
                "records", "scored", "waiting", "unscorable", "missing", "digest"
            )
        ),
    ]


@pytest.fixture
def version() -> SuiteVersion:
    """A draft: a published version has runs of its own, which the site makes."""
    return make.takeoff_version(4, publish=False)


@pytest.fixture
def public() -> SuiteVersion:
    return make.takeoff_version(4)


def test_a_run_is_scored_in_both_modes_and_summed_up(version: SuiteVersion) -> None:
    run = make.takeoff_run(version, {"t-0": 100, "t-1": 110, "t-2": 90, "t-3": 300})
    make.score_all()
    assert [(row[0], row[3], row[4]) for row in scores_of(run)] == [
        ("t-0", 0.0, True),
        ("t-1", 10.0, False),
        ("t-2", 10.0, False),
        ("t-3", 100.0, False),
    ]
    assert scores_of(run, mode="reference")[3][3] == 200.0
    results = results_of(run)
    assert results["ape", "strict"] == (10.0, 4, 0, 0, 0)
    assert results["ape", "reference"] == (10.0, 4, 0, 0, 0)


def test_what_a_run_comes_to_is_kept_beside_its_scores(version: SuiteVersion) -> None:
    run = make.takeoff_run(version, {"t-0": 100, "t-2": 150})
    make.score_all()
    vector = RunVector.objects.get(run=run, mode="strict", metric__key="ape")
    decoded = summing.decode(bytes(vector.values), bytes(vector.states))
    assert decoded.values == (0.0, None, 50.0, None)
    assert decoded.states == (
        ItemState.SCORED,
        ItemState.MISSING,
        ItemState.SCORED,
        ItemState.MISSING,
    )
    summary = Summary.objects.get(run=run)
    assert (summary.records, summary.scored, summary.missing) == (2, 2, 2)
    assert summary.usage["steps"] == {"total": 4, "median": 2.0, "share": 1.0}
    assert len(summary.digest) == 64
    run.refresh_from_db()
    assert run.verification == Run.Verification.RESCORED


def test_a_task_without_an_answer_is_charged_and_never_left_out(version: SuiteVersion) -> None:
    run = make.takeoff_run(version, {"t-0": 100})
    make.score_all()
    value, n, _waiting, missing, _unscorable = results_of(run)["ape", "strict"]
    assert (value, missing) == (100.0, 3)
    assert n == 4


def test_a_run_that_is_scored_again_keeps_its_rows(version: SuiteVersion) -> None:
    run = make.takeoff_run(version, {"t-0": 100, "t-1": 130})
    make.score_all()
    kept = list(Score.objects.order_by("pk").values_list("pk", "revision", "created_at"))
    told = everything(run)
    scheduling.schedule_run(run)
    make.score_all()
    assert list(Score.objects.order_by("pk").values_list("pk", "revision", "created_at")) == kept
    assert everything(run) == told


def test_scoring_that_changed_nothing_publishes_no_new_snapshot(public: SuiteVersion) -> None:
    run = make.takeoff_run(public)
    make.score_all()
    scheduling.schedule_run(run)
    make.score_all()
    assert public.boards.get().snapshots.count() == 1


def units(run: Run, cuts: list[int]) -> list[dict[str, int]]:
    """The records of a run as payloads of units that are cut at these places."""
    ids = list(InstanceRecord.objects.of_run(run.pk).order_by("id").values_list("id", flat=True))
    edges = sorted({0, len(ids), *(cut % len(ids) for cut in cuts)})
    chosen = run.version.passes.get()
    return [
        {"pass": chosen.pk, "run": run.pk, "first": ids[start], "last": ids[end - 1]}
        for start, end in itertools.pairwise(edges)
    ]


@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_any_cut_order_and_repetition_of_units_gives_the_same(
    version: SuiteVersion, data: st.DataObject
) -> None:
    with transaction.atomic():
        values = {"t-0": 100.0, "t-1": 101.5, "t-2": 40.0, "t-3": 0.0}
        name = f"Entrant {next(make.numbers)}"
        run = make.takeoff_run(version, values, name=name)
        make.score_all()
        told = everything(run)
        Score.objects.filter(record__run=run).delete()
        RunResult.objects.filter(run=run).delete()
        RunVector.objects.filter(run=run).delete()
        Summary.objects.filter(run=run).delete()
        payloads = units(run, data.draw(st.lists(st.integers(0, 3), max_size=3)))
        order = data.draw(st.permutations(payloads))
        repeated = data.draw(st.lists(st.sampled_from(payloads), max_size=3))
        for payload in [*order, *repeated]:
            scoring.score_unit(payload)()
        make.score_all()
        assert everything(run) == told


def test_units_are_cut_by_the_setting_and_summed_up_once(
    version: SuiteVersion, settings: LazySettings
) -> None:
    settings.ACADEMY_WORK_UNIT = 3
    run = make.takeoff_run(version)
    rows = Work.objects.filter(run=run, kind="score").order_by("pk")
    assert len(rows) == 2
    first, last = rows[0].payload, rows[1].payload
    assert first["last"] < last["first"]
    claimed = work.claim("worker")
    assert claimed is not None
    work.perform(claimed)
    assert not Work.objects.filter(kind="aggregate").exists()
    make.score_all()
    assert Work.objects.get(kind="aggregate").state == "done"
    assert len(scores_of(run)) == 4


def test_a_unit_of_a_run_that_is_gone_does_nothing(version: SuiteVersion) -> None:
    payload = {"pass": version.passes.get().pk, "run": 16_000_000, "first": 0, "last": 2**62}
    scoring.score_unit(payload)()
    scoring.aggregate_run(payload)()
    assert not Score.objects.exists()


def test_replicates_of_a_task_are_averaged_before_the_tasks_are(version: SuiteVersion) -> None:
    contents = make.line_run(
        make.execution("t-0", 100),
        make.execution("t-0", 120, replicate=2),
        make.execution("t-1", 100),
        make.execution("t-2", 100),
        make.execution("t-3", 100),
        replicates=2,
    )
    run = make.run_of(make.record_files(contents, version))
    make.score_all()
    vector = RunVector.objects.get(run=run, mode="strict")
    assert summing.decode(bytes(vector.values), bytes(vector.states)).values[0] == 10.0


# What a scorer does with an answer that nobody thought of: some answers make it raise.


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A scorer of its own that falls over an answer, in the registry beside the installed ones."""
    from academy.scorers.base import Scorer, VerdictStatus
    from academy.scorers.base import Verdict as Said

    def score(record: Any, _key: Any, _decisions: Any, _params: Any) -> Said:
        numbers = record.answer["quantities"]
        return Said(status=VerdictStatus.SCORED, value=100.0 / numbers[0]["value"])

    scorers = dict(registry.all_scorers())
    scorers["falls-over", Mode.STRICT] = Scorer(
        key="falls-over",
        version=1,
        mode=Mode.STRICT,
        score=score,
        check=lambda _key, _params: None,
    )
    monkeypatch.setattr(registry, "all_scorers", lambda: scorers)
    return "falls-over"


def test_a_scorer_that_raises_marks_only_its_records(
    raising: str, caplog: pytest.LogCaptureFixture
) -> None:
    version = make.takeoff_version(3, publish=False)
    gradings = [{"metric": "ape", "scorer": raising, "params": {}}]
    version.tasks.update(gradings=gradings)
    run = make.takeoff_run(version, {"t-0": 100, "t-1": 0, "t-2": 50})
    make.score_all()
    assert [(row[2], row[3]) for row in scores_of(run)] == [
        ("scored", 1.0),
        ("unscorable", None),
        ("scored", 2.0),
    ]
    note = Score.objects.get(record__run=run, status="unscorable").note
    assert note.startswith("scorer error ")
    error_id = note.split()[2].rstrip(":")
    assert f"scorer error {error_id} on record" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert Work.objects.filter(run=run, kind="score", state="done").count() == 1
    assert results_of(run)["ape", "strict"][4] == 1


def test_a_scorer_that_raises_again_makes_no_new_revision(raising: str) -> None:
    version = make.takeoff_version(1, publish=False)
    version.tasks.update(gradings=[{"metric": "ape", "scorer": raising, "params": {}}])
    run = make.takeoff_run(version, {"t-0": 0})
    make.score_all()
    kept = Score.objects.get(record__run=run)
    scheduling.schedule_run(run)
    make.score_all()
    assert Score.objects.get(record__run=run).pk == kept.pk


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


def record_of(run: Run, task_id: str) -> InstanceRecord:
    return InstanceRecord.objects.select_related("task").get(run=run, task__external_id=task_id)


def criterion_of(record: InstanceRecord, key: str) -> Criterion:
    return Criterion.objects.get(task=record.task, key=key)


def decide(record: InstanceRecord, person: Any, **verdicts: bool) -> None:
    deciding.record_decisions(
        record,
        [Verdict(criterion=criterion_of(record, key), value=met) for key, met in verdicts.items()],
        source="person",
        person=person,
    )


def test_a_run_is_provisional_while_anything_waits(rubric_run: Run) -> None:
    assert [(row[0], row[1], row[2]) for row in scores_of(rubric_run) if row[1] == "perfect"] == [
        ("q-0", "perfect", "scored"),
        ("q-1", "perfect", "scored"),
        ("q-2", "perfect", "needs_human"),
    ]
    summary = Summary.objects.get(run=rubric_run)
    assert (summary.scored, summary.waiting, summary.missing) == (2, 1, 0)
    assert results_of(rubric_run)["perfect", "strict"] == (0.5, 2, 1, 0, 0)
    result = RunResult.objects.get(
        run=rubric_run, metric__key="perfect", mode="strict", slice="", origin="computed"
    )
    assert "Provisional: 1 of 3" in result.note
    board = rubric_run.version.boards.get(policy__mode="strict").newest_snapshot()
    assert board is not None
    (row,) = board.standings["standings"]
    assert (row["rank"], row["waiting"]) == (None, 1)


def test_what_waits_is_neither_zero_nor_a_number(rubric_run: Run) -> None:
    waiting = Score.objects.filter(record__run=rubric_run, status="needs_human", current=True)
    assert waiting.exists()
    assert set(waiting.values_list("value", "credit", "passed")) == {(None, None, None)}


def test_a_decision_scores_again_only_what_depends_on_it(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-2")
    before = set(Score.objects.values_list("pk", flat=True))
    decide(record, reviewer, R1=True, R2=True)
    owed = Work.objects.filter(state="ready", kind="score")
    assert [(row.payload["first"], row.payload["last"]) for row in owed] == [(record.pk, record.pk)]
    make.score_all()
    fresh = Score.objects.exclude(pk__in=before)
    assert set(fresh.values_list("record_id", flat=True)) == {record.pk}
    changed = Score.objects.filter(pk__in=before, current=False)
    assert set(changed.values_list("record_id", flat=True)) == {record.pk}
    assert fresh.count() == changed.count() == 4
    assert set(fresh.values_list("revision", flat=True)) == {2}
    summary = Summary.objects.get(run=rubric_run)
    assert (summary.scored, summary.waiting) == (3, 0)


def test_a_decision_that_changes_no_score_makes_no_new_one(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    before = Score.objects.count()
    decide(record_of(rubric_run, "q-2"), reviewer, R1=True)
    make.score_all()
    fresh = Score.objects.count() - before
    assert fresh == 0


def test_the_board_follows_a_decision(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    board = rubric_run.version.boards.get(policy__mode="strict")
    first = board.newest_snapshot()
    decide(record_of(rubric_run, "q-2"), reviewer, R1=True, R2=False)
    make.score_all()
    second = board.newest_snapshot()
    assert first is not None and second is not None
    assert second.number == first.number + 1
    assert second.standings["standings"][0]["waiting"] == 0


def test_a_decision_taken_back_leaves_both_in_the_trail(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-2")
    decide(record, reviewer, R1=True, R2=True)
    decide(record, reviewer, R1=False)
    rows = Decision.objects.filter(record=record, criterion__key="R1").order_by("pk")
    assert [(row.value, row.current) for row in rows] == [(True, False), (False, True)]
    assert rows[1].supersedes == rows[0]
    make.score_all()
    assert ("q-2", "perfect", "scored", 0.0, False) in scores_of(rubric_run)


def test_the_same_decision_again_changes_no_decision(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-2")
    decide(record, reviewer, R1=True)
    kept = list(Decision.objects.order_by("pk").values_list("pk", "current"))
    decide(record, reviewer, R1=True)
    assert list(Decision.objects.order_by("pk").values_list("pk", "current")) == kept


def test_two_persons_who_differ_decide_nothing(rubric_run: Run) -> None:
    record = record_of(rubric_run, "q-2")
    decide(record, make.person("one", "reviewer"), R1=True, R2=True)
    make.score_all()
    decide(record, make.person("other", "reviewer"), R1=False)
    make.score_all()
    assert ("q-2", "perfect", "needs_human", None, None) in scores_of(rubric_run)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ({"value": 1}, "takes true or false"),
        ({"value": None}, "true or false"),
        ({"state": "na"}, "does not allow N/A"),
        ({"state": "perhaps"}, "is no state"),
    ],
)
def test_a_verdict_that_is_not_on_the_scale_is_refused(
    rubric_run: Run, verdict: dict[str, Any], said: str
) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-0")
    before = make.whole_database()
    with pytest.raises(AcademyError, match=said):
        deciding.record_decisions(
            record,
            [Verdict(criterion=criterion_of(record, "R1"), **verdict)],
            source="person",
            person=reviewer,
        )
    assert make.changed_tables(before) == []


def test_a_criterion_of_another_task_is_refused(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    other = criterion_of(record_of(rubric_run, "q-1"), "R1")
    with pytest.raises(AcademyError, match="belongs to another task"):
        deciding.record_decisions(
            record_of(rubric_run, "q-0"),
            [Verdict(criterion=other, value=True)],
            source="person",
            person=reviewer,
        )


@pytest.mark.parametrize("column", ["value", "status", "measures", "revision", "mode"])
def test_nobody_edits_a_score(version: SuiteVersion, column: str) -> None:
    make.takeoff_run(version)
    make.score_all()
    value = {"value": "1", "measures": "'{\"a\": 1}'", "revision": "9"}.get(column, "'x'")
    with (
        pytest.raises(IntegrityError, match="does not change"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE academy_score SET {column} = {value}")


def test_nobody_edits_a_decision(rubric_run: Run) -> None:
    for statement in ("value = 'false'", "reason = 'other'", "source = 'machine'"):
        with (
            pytest.raises(IntegrityError, match="does not change"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE academy_decision SET {statement}")


def test_the_database_holds_at_most_one_current_score(version: SuiteVersion) -> None:
    make.takeoff_run(version)
    make.score_all()
    score = Score.objects.first()
    assert score is not None
    score.pk = None
    score.revision += 1
    with pytest.raises(IntegrityError, match="one_current_score"), transaction.atomic():
        score.save(force_insert=True)
    score.current = False
    score.revision -= 1
    with pytest.raises(IntegrityError, match="score_identity"), transaction.atomic():
        score.save(force_insert=True)


@pytest.mark.parametrize("place", [0, 3])
def test_a_unit_that_fails_for_good_is_our_failure_and_not_the_entrants(
    public: SuiteVersion, settings: LazySettings, place: int
) -> None:
    settings.ACADEMY_WORK_UNIT = 2
    executions = [
        make.execution(f"t-{place}", extra={"pad": "x" * FRAME_BYTES}) for place in range(4)
    ]
    run = make.run_of(make.record_files(make.line_run(*executions), public))
    lost = InstanceRecord.objects.of_run(run.pk).order_by("id")[place].pack_id
    Pack.objects.filter(pk=lost).update(content=b"damaged")
    for _attempt in range(5):
        make.score_all()
        Work.objects.filter(state="ready").update(due_at="2026-01-01T00:00:00Z")
    summary = Summary.objects.get(run=run)
    assert (summary.records, summary.missing) == (4, 0)
    assert summary.unscorable >= 1
    board = public.boards.get().newest_snapshot()
    assert board is not None
    assert board.standings["standings"][0]["rank"] is None


ODD = {
    "null": "\x00",
    "lone-surrogate": "\ud800",
    "direction": "\u202e",
    "formula": "=1+1",
    "markup": "<b>",
    "escape": "\x1b[31m",
    "long": "".join(chr(33 + place * place * 7919 % 90) for place in range(20_000)),
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_no_text_in_an_answer_keeps_it_from_being_scored(version: SuiteVersion, name: str) -> None:
    text = ODD[name]
    line = {
        "task": "t-0",
        "status": "answered",
        "answer": {"quantities": [{"item": f"t-0{text}", "value": 1, "unit": text}]},
        "evidence": {
            "trace": [
                {"seq": 0, "tOffsetMs": 0, "type": "tool_call", "tool": text, "args": {text: text}},
                {
                    "seq": 1,
                    "tOffsetMs": 1,
                    "type": "tool_call",
                    "tool": "emit_quantity",
                    "args": {"item": text, "value": 2, "unit": text},
                },
            ]
        },
    }
    content = "\n".join(json.dumps(held) for held in (make.header(), line))
    run = make.run_of(make.record_files({"run.jsonl": content}, version))
    make.score_all()
    assert list(Work.objects.exclude(state="done").values_list("key", "error")) == []
    assert len(scores_of(run)) == 1
