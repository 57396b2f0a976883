"""What the examples are there to show is what a visitor sees of them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import transaction
from django.db.models import QuerySet
from django.test import Client
from pytest_django import DjangoDbBlocker

from academy import deciding, demonstrating, work
from academy.deciding import Verdict
from academy.models import Criterion, InstanceRecord, Run, Work
from adjudication.models import ReviewItem
from leaderboard import statistics
from leaderboard.models import Board

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scored_examples")]
NOT_MET = {("situated_action-e04", "R2")}
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/statistics-by-name.md"
SITE = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def scored_examples(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The examples, loaded and scored once for all tests here, and gone afterwards."""
    with django_db_blocker.unblock(), transaction.atomic():
        demonstrating.load_examples()
        work.drain("test")
        yield
        transaction.set_rollback(True)


def standings(board: str) -> dict[str, Any]:
    told = StringIO()
    call_command("standings", board, "--json", stdout=told)
    printed: dict[str, Any] = json.loads(told.getvalue())
    return printed


def rows(board: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in standings(board)["standings"]}


def test_two_entrants_share_first_place_and_the_third_is_behind() -> None:
    assert not Work.objects.exclude(state="done").exists()
    area = rows("example-floor-plans-area-takeoff")
    assert {name: row["tie_group"] for name, row in area.items()} == {
        "Example Heron": 1,
        "Example Otter": 1,
        "Example Magpie": 2,
    }
    assert all(row["low"] < row["score"] < row["high"] for row in area.values())
    assert (area["Example Heron"]["rank"], area["Example Heron"]["rank_high"]) == (1, 2)
    count = rows("example-floor-plans-fixture-count")
    assert count["Example Magpie"]["place"] == "incomplete"
    assert {count[f"Example {name}"]["tie_group"] for name in ("Heron", "Otter")} == {1}
    scope = standings("example-floor-plans-scope-identification")
    assert any("Too few" in note for note in scope["notes"])
    assert all(row["tie_group"] is None for row in scope["standings"])
    assert Board.objects.exclude(is_example=True).count() == 0


@pytest.mark.parametrize(
    "board", ["example-floor-plans-area-takeoff", "example-floor-plans-fixture-count"]
)
def test_the_recipe_of_the_documents_computes_a_board_again(
    board: str, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = re.search(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.S)
    assert found is not None
    asked = "urllib.request.urlopen"
    monkeypatch.setattr(asked, lambda url: io.BytesIO(client.get(url.removeprefix(SITE)).content))
    monkeypatch.chdir(tmp_path)
    exec(found[1].replace("example-floor-plans-area-takeoff", board), {})
    (case,) = json.loads((tmp_path / "cases.json").read_bytes())
    result: Any = statistics.evaluate(case)
    shown = standings(board)
    assert result["seed"] == shown["seed"]
    told = ("key", "place", "rank", "rank_low", "rank_high", "tie_group", "shown", "p_first")
    for again, row in zip(result["standings"], shown["standings"], strict=True):
        assert {name: again[name] for name in told} == {name: row[name] for name in told}
        assert (again["score"]["low"], again["score"]["high"]) == (row["low"], row["high"])


def test_only_the_careless_run_raises_questions() -> None:
    found = {
        (finding.run.entrant.name, finding.code)
        for run in Run.objects.all()
        for finding in run.findings.select_related("run__entrant")
    }
    assert {name for name, _code in found} == {"Example Magpie"}
    assert {"planset-hash-mismatch", "answered-without-measurement"} <= {code for _, code in found}


def test_the_decisions_of_a_reviewer_move_the_board() -> None:
    before = rows("example-desktop-perfect")
    assert {name: row["place"] for name, row in before.items()} == {
        "Example Heron": "ranked",
        "Example Otter": "ranked",
        "Example Magpie": "provisional",
    }
    assert before["Example Heron"]["score"] == 5 / 8
    assert before["Example Otter"]["score"] == 3 / 8
    items = open_items("example-desktop").select_related("record__run__entrant")
    assert {item.record.run.entrant.name for item in items if item.record} == {"Example Magpie"}
    assert items.count() == 8

    decide_all("reviewer", {item.record_id for item in items if item.record_id})
    work.drain("test")
    after = rows("example-desktop-perfect")
    assert after["Example Magpie"]["place"] == "ranked"
    assert (after["Example Magpie"]["rank"], after["Example Magpie"]["score"]) == (1, 7 / 8)
    assert {row["tie_group"] for row in after.values()} == {1}
    assert after["Example Heron"]["score"] == before["Example Heron"]["score"]
    assert not open_items("example-desktop").exists()


def open_items(suite: str) -> QuerySet[ReviewItem]:
    """What waits for people about records of a suite."""
    return ReviewItem.objects.filter(state="open", record__run__version__suite__slug=suite)


def decide_all(name: str, record_ids: set[int]) -> None:
    reviewer = get_user_model().objects.get(username=name)
    for record in InstanceRecord.objects.filter(pk__in=record_ids).select_related("task"):
        deciding.record_decisions(
            record,
            [
                Verdict(
                    criterion=criterion,
                    value=(record.task.external_id, criterion.key) not in NOT_MET,
                )
                for criterion in Criterion.objects.filter(task=record.task)
            ],
            source="person",
            person=reviewer,
        )
