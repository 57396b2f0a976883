"""A board that counts a judge says which one, and how far people agree with it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from academy.models import Decision
from leaderboard import boards, standings
from leaderboard.models import Board
from tests import factories as made
from tests.leaderboard.boarding import newest, policy_of

pytestmark = pytest.mark.django_db


def decide(board: Board, places: range, *, agree: bool) -> None:
    """A person decides some records of the first run as its judge did, or the other way."""
    person = made.person(f"reviewer-{places.start}", "reviewer")
    judged = Decision.objects.filter(source="judge", record__run__entrant__slug="alpha")
    for row in judged.order_by("pk")[places.start : places.stop]:
        Decision.objects.create(
            kind="record", record_id=row.record_id, criterion_id=row.criterion_id, source="person",
            person=person, value=row.value if agree else not row.value,
            made_at=timezone.now(),
        )  # fmt: skip


def judge_of(board: Board) -> Any:
    standings.publish_snapshot(board)
    return newest(board).standings["judge"]


def test_the_judge_is_named_with_its_version_and_nobody_has_agreed_yet(judged: Board) -> None:
    facts = judge_of(judged)
    assert [held["name"] for held in facts["judges"]] == ["example-judge"]
    assert facts["agreement"]["n"] == 0
    page = Client().get(f"/boards/{judged.slug}/").content.decode()
    assert "Judged by <b>example-judge" in page
    assert "nobody has looked at its verdicts" in page
    assert "not audited" in page


def test_agreement_counts_criteria_that_both_decided_with_an_interval_over_records(
    judged: Board,
) -> None:
    decide(judged, range(9), agree=True)
    decide(judged, range(9, 12), agree=False)
    agreement = judge_of(judged)["agreement"]
    assert (agreement["agree"], agreement["n"], agreement["records"]) == (9, 12, 12)
    assert agreement["low"] < 0.75 < agreement["high"]
    assert "Too few" in agreement["note"]
    page = Client().get(f"/boards/{judged.slug}/").content.decode()
    assert "9 of 12 criteria" in page
    assert "75.0 %" in page


def test_full_agreement_is_no_certainty(judged: Board) -> None:
    decide(judged, range(10), agree=True)
    agreement = judge_of(judged)["agreement"]
    assert agreement["share"] == 1.0
    assert agreement["low"] < 0.8
    assert agreement["high"] == 1.0


def test_an_audited_board_shows_what_the_audit_changes(judged: Board) -> None:
    decide(judged, range(10), agree=False)
    policy = policy_of(judged, evidence="judge_audited")
    boards.change_board(judged, policy, list(judged.versions.all()), reason="audit it")
    facts = judge_of(judged)
    (row,) = facts["audits"]
    assert row["audited"] == 10
    assert row["correction"].startswith("−")
    page = Client().get(f"/boards/{judged.slug}/").content.decode()
    assert "Judge alone" in page


def test_a_board_of_people_names_no_judge(small_board: Board) -> None:
    assert judge_of(small_board) is None
    page = Client().get(f"/boards/{small_board.slug}/").content.decode()
    assert "Whose word counts here" not in page
