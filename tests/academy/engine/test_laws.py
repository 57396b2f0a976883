"""Whatever the order, however often, and wherever a worker dies: the scores come out the same."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import LazySettings
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from academy import keying, passes, scheduling, work
from academy.models import (
    Run,
    RunResult,
    RunVector,
    Score,
    ScoringPass,
    SuiteVersion,
    Summary,
    Work,
)
from tests import factories as make

pytestmark = pytest.mark.django_db

VALUES = {"t-0": 100.0, "t-1": 95.0, "t-2": 50.0, "t-3": None}


def outcome(run: Run) -> dict[str, Any]:
    """All that a run's scoring came to, without ids and times."""
    scores = Score.objects.filter(record__run=run, current=True).order_by(
        "record", "metric", "mode"
    )
    results = RunResult.objects.filter(run=run).order_by("metric", "mode", "slice", "origin")
    vectors = RunVector.objects.filter(run=run).order_by("metric", "mode")
    return {
        "scores": list(
            scores.values_list("record__task__external_id", "mode", "status", "value", "passed")
        ),
        "revisions": set(Score.objects.filter(record__run=run).values_list("revision", flat=True)),
        "results": list(results.values_list("mode", "slice", "value", "n", "missing", "waiting")),
        "vectors": [(bytes(v), bytes(s)) for v, s in vectors.values_list("values", "states")],
        "summary": Summary.objects.values_list("digest", "scored", "missing").get(run=run),
    }


def expire() -> None:
    Work.objects.filter(state="leased").update(lease_until="2026-01-01T00:00:00Z")
    Work.objects.filter(state="ready").update(due_at="2026-01-01T00:00:00Z")


def die_before_writing() -> None:
    """A worker takes a unit and is gone."""
    work.claim("doomed")
    expire()


def die_while_writing() -> None:
    """A worker has written all, and dies before its transaction ends."""
    claimed = work.claim("doomed")
    if claimed is not None:
        write = work.HANDLERS[claimed.kind](claimed.payload)
        with transaction.atomic():
            write()
            transaction.set_rollback(True)
    expire()


def work_once() -> None:
    claimed = work.claim("worker")
    if claimed is not None:
        work.perform(claimed)


def two_at_once() -> None:
    """A worker that lost its lease comes back after another has done its unit."""
    claimed = work.claim("slow")
    if claimed is None:
        return
    write = work.HANDLERS[claimed.kind](claimed.payload)
    expire()
    work_once()
    with pytest.raises(work.LeaseLostError):
        work.finish(claimed, write)


def may_still_end_well(steps: list[str]) -> bool:
    """A unit is given up after five attempts, which is another law; here fewer are lost."""
    lost = sum({"die": 1, "die late": 1, "two": 2}.get(step, 0) for step in steps)
    return lost < work.MAX_ATTEMPTS


STEPS = {
    "die": die_before_writing,
    "die late": die_while_writing,
    "work": work_once,
    "two": two_at_once,
    "again": None,
}


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.permutations(list(VALUES)),
    steps=st.lists(st.sampled_from(sorted(STEPS)), max_size=6).filter(may_still_end_well),
)
def test_any_order_doubling_crash_and_retry_ends_in_the_same_scores(
    settings: LazySettings, order: list[str], steps: list[str]
) -> None:
    settings.ACADEMY_WORK_UNIT = 1
    with transaction.atomic():
        version = make.takeoff_version(4, mode="practice", slug=f"laws-{next(make.numbers)}")
        named = str(version)
        plain = [make.execution(name, value) for name, value in VALUES.items()]
        reference = make.run_of(
            make.record_files(make.line_run(*plain, suite=named, run_id="plain"), version)
        )
        make.score_all()
        expected = outcome(reference)
        shuffled = [make.execution(name, VALUES[name]) for name in order]
        run = make.run_of(
            make.record_files(make.line_run(*shuffled, suite=named, run_id="odd"), version)
        )
        for step in steps:
            act = STEPS[step]
            if act is None:
                scheduling.schedule_run(run)
            else:
                act()
        for _round in range(8):
            expire()
            make.score_all()
        assert not Work.objects.exclude(state="done").exists()
        found = outcome(run)
        assert found == expected
        assert found["revisions"] == {1}, "what came out the same is stored once"
        transaction.set_rollback(True)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.permutations(range(3)),
    again=st.lists(st.sampled_from(["pass", "run", "publish", "die"]), max_size=5),
)
def test_performing_a_pass_again_changes_nothing(
    settings: LazySettings, order: list[int], again: list[str]
) -> None:
    settings.ACADEMY_WORK_UNIT = 1
    with transaction.atomic():
        version = make.takeoff_version(2, mode="practice", slug=f"passes-{next(make.numbers)}")
        runs = [make.takeoff_run(version, name=f"Entrant {n}-{next(make.numbers)}") for n in order]
        make.score_all()
        content = {"quantities": [{"item": "t-1", "value": 90, "unit": "sf"}]}
        staged = keying.revise(version, {"t-1": content}, reason="misread").scoring_pass
        assert staged is not None
        make.score_all()
        before = everything(version)
        for step in again:
            if step == "pass":
                passes.owe_scoring(staged)
            elif step == "run":
                scheduling.schedule_run(runs[0])
            elif step == "die":
                die_while_writing()
            elif is_staged(staged):
                passes.publish(staged, reason="right")
            expire()
            make.score_all()
        found = everything(version)
        assert found == before
        assert not Work.objects.exclude(state="done").exists()
        transaction.set_rollback(True)


def is_staged(chosen: ScoringPass) -> bool:
    chosen.refresh_from_db()
    return chosen.state == "staged"


def everything(version: SuiteVersion) -> dict[str, Any]:
    """All scores, results and digests of a version in all passes."""
    scores = Score.objects.filter(record__run__version=version).order_by("pk")
    results = RunResult.objects.filter(run__version=version, origin="computed")
    summaries = Summary.objects.filter(run__version=version).order_by("run", "scoring_pass")
    return {
        "scores": list(scores.values_list("pk", "scoring_pass", "revision", "current", "value")),
        "results": sorted(
            results.values_list("run", "metric", "mode", "scoring_pass", "slice", "value", "n"),
            key=repr,
        ),
        "summaries": list(summaries.values_list("run", "scoring_pass", "digest")),
    }
