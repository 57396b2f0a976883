"""Scores follow from records, keys and decisions alone: again, in any order, in any pieces."""

from __future__ import annotations

import itertools

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from academy import scheduling, scoring, summing, work
from academy.aggregation import ItemState
from academy.models import (
    InstanceRecord,
    Run,
    RunResult,
    RunVector,
    Score,
    SuiteVersion,
    Summary,
    Work,
)
from tests import factories as make
from tests.academy.scoring.standing import everything, results_of, scores_of

pytestmark = pytest.mark.django_db


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
