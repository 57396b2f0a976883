"""Boards of ratings that must not be averaged: dimension by arm, and no rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from academy import deciding, publishing
from academy.formats.reading import Files
from academy.models import InstanceRecord
from leaderboard.models import Board
from tests import factories as made
from tests.leaderboard.boarding import newest

pytestmark = pytest.mark.django_db

SAMPLE = Path(__file__).parents[2] / "academy/formats/neckbeard/samples/accept/garden-shed"


def rated_board(*, sealed: bool = False) -> Board:
    """Two arms of one entrant; somebody rated every dimension of the records of one."""
    files = Files.of(
        {
            path.relative_to(SAMPLE).as_posix(): path.read_bytes()
            for path in sorted(SAMPLE.rglob("*"))
            if path.is_file()
        }
    )
    version = made.version_of(made.import_files(files, rename=("shed", "1"), publish=False))
    version.sealed = sealed
    version.save(update_fields=["sealed"])
    publishing.publish_version(version, reason="a test")
    tasks = list(version.tasks.order_by("ordinal").values_list("external_id", flat=True))
    for arm in ("with", "without"):
        lines = [{"task": task, "status": "answered", "answer": "a patch"} for task in tasks]
        document = made.line_run(
            *lines, suite="shed@1", entrant={"name": "Example"}, arm=arm, run_id=f"r-{arm}"
        )
        made.record_files(document, version)
    made.score_all()
    reviewer = made.person("reviewer", "reviewer")
    records = InstanceRecord.objects.filter(run__arm="with").order_by("id")
    for place, record in enumerate(records):
        criteria = record.task.criteria.filter(scale="rating").order_by("ordinal")
        verdicts = [
            deciding.Verdict(criterion=criterion, state="na", reason="does not apply")
            if place == 0 and criterion.allows_na
            else deciding.Verdict(criterion=criterion, value=2, reason="seen")
            for criterion in criteria
        ]
        deciding.record_decisions(record, verdicts, source="person", person=reviewer)
    made.score_all()
    board: Board = version.boards.order_by("pk").get()
    return board


def test_ratings_are_counted_by_dimension_and_arm_and_nothing_is_ranked() -> None:
    board = rated_board()
    shown = newest(board).standings
    assert all(row["rank"] is None for row in shown["standings"])
    assert len(shown["ratings"]) == 1 + len(board.policy["secondary"])
    for dimension in shown["ratings"]:
        rated, waiting = dimension["arms"]
        assert (rated["arm"], waiting["arm"]) == ("with", "without")
        assert rated["counts"] == [0, 0, rated["n"], 0]
        assert rated["raters"] == 1 and waiting["raters"] == 0
        assert waiting["n"] == 0 and waiting["waiting"] > 0
        assert rated["n"] + rated["not_applicable"] == waiting["waiting"]
    assert any(dimension["arms"][0]["not_applicable"] for dimension in shown["ratings"])


def test_the_page_shows_distributions_and_no_composite() -> None:
    board = rated_board()
    page = Client().get(f"/boards/{board.slug}/").content.decode()
    assert "This board is not ranked" in page
    assert "times 2" in page
    assert 'class="rank"' not in page
    table = Client().get(f"/boards/{board.slug}/standings.md").content.decode()
    assert "Nobody is ranked." in table and "| Rank |" not in table
    keys = [row["key"] for row in newest(board).standings["standings"]]
    pair = Client().get("/compare/", {"board": board.slug, "entry": keys})
    assert pair.status_code == 422 and "has no item with a value" in pair.content.decode()
    for dimension in newest(board).standings["ratings"]:
        assert dimension["label"] in page


def test_few_sealed_tasks_show_no_ratings() -> None:
    board = rated_board(sealed=True)
    assert newest(board).standings["ratings"] == []
    assert "times 2" not in Client().get(f"/boards/{board.slug}/").content.decode()
