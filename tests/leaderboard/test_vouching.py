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


def test_errors_of_the_judge_are_told_by_entry_and_pooled(judged: Board) -> None:
    decide(judged, range(30), agree=True)
    decide(judged, range(30, 34), agree=False)
    (held,) = judge_of(judged)["against_people"]
    assert (held["name"], held["pairs"], held["judged"]) == ("example-judge", 34, 120)
    alpha, beta, gamma = held["entries"]
    # Of Alpha the judge passes the first 36 of 40, so that people failed four that it passed.
    assert (alpha["name"], alpha["checked"], alpha["false_pass"]) == ("Alpha", 34, 4)
    assert (alpha["q1"]["point"], alpha["q0"]["point"]) == (1.0, 0.0)
    assert alpha["rate"]["point"] is None and "Refused" in alpha["note"]
    assert (beta["checked"], gamma["checked"], beta["q1"]["point"]) == (0, 0, None)
    assert "Too few to judge" in beta["note"]
    assert held["pooled"]["checked"] == 34
    page = Client().get(f"/boards/{judged.slug}/").content.decode()
    assert "against people" in page and "All together" in page
    assert "Too few to judge: 0 doubly reviewed items" in page


def test_corrected_rates_take_the_errors_of_the_judge_out(judged: Board) -> None:
    decide(judged, range(4), agree=False)
    decide(judged, range(4, 40), agree=True)
    (held,) = judge_of(judged)["against_people"]
    alpha = held["entries"][0]
    # The judge passes 36 of 40 where people pass 32: the correction finds their share again.
    assert alpha["checked"] == 40
    assert alpha["rate"]["point"] == pytest.approx(0.8)
    assert alpha["rate"]["low"] <= 0.8 <= alpha["rate"]["high"]
    assert alpha["note"] == ""
    assert "80.0 %" in Client().get(f"/boards/{judged.slug}/").content.decode()


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
