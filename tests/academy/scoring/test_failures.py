"""What a scorer or a unit that fails does to a run, and what no answer does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from academy import registry, scheduling
from academy.models import InstanceRecord, Pack, Score, SuiteVersion, Summary, Work
from academy.packs import FRAME_BYTES
from academy.scorers.base import Mode
from tests import factories as make
from tests.academy.scoring.standing import results_of, scores_of

pytestmark = pytest.mark.django_db


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
