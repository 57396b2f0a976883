"""What the page of a version says before anybody trusts a board over it."""

from __future__ import annotations

import pytest
from django.test import Client

from academy.models import Decision, InstanceRecord, Run
from leaderboard import slicing, standings
from leaderboard.inputs import rank_policy, read_inputs
from leaderboard.models import Board
from tests import factories as made
from tests.leaderboard.boarding import newest

pytestmark = pytest.mark.django_db


def page_of(board: Board) -> str:
    version = board.versions.select_related("suite").get()
    answer = Client().get(f"/suites/{version.suite.slug}/{version.name}/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_bars_stand_beside_the_recorded_human_and_say_when_there_is_none(
    small_board: Board,
) -> None:
    page = page_of(small_board)
    assert "Not measured yet: no complete run of a person is stored." in page
    version = small_board.versions.get()
    values = {f"t-{place}": 102 for place in range(8)}
    run = made.takeoff_run(version, values, name="Example person", kind=Run.Kind.HUMAN)
    made.score_all()
    page = page_of(small_board)
    assert "best of 1, revision 1, pass 1" in page
    assert f'href="/runs/{run.pk}/"' in page
    assert "Example person" in page


def test_a_version_of_passes_says_what_it_can_tell_apart_and_how_much_room_is_left(
    judged: Board,
) -> None:
    page = page_of(judged)
    # 2.8 · sqrt(0.1/40) = 0.14 and 2.8 · sqrt(0.5/40) = 0.313.
    assert "14.0 points" in page
    assert "31.3 points" in page
    measured = page[page.index("measured between its first two") :]
    assert " points</td>" in measured[: measured.index("</tr>")]
    assert "872" in page
    assert "Oracle and shotgun do not apply" in page
    assert "Solved by all" in page


def test_agreement_of_people_is_percent_first_and_says_when_it_is_too_little(
    judged: Board,
) -> None:
    assert "Not measured yet" in page_of(judged)
    people = [made.person(f"reviewer-{place}", "reviewer") for place in range(2)]
    version = judged.versions.get()
    runs = version.runs.filter(entrant__slug="alpha")
    records = InstanceRecord.objects.filter(run__in=runs).order_by("pk")[:10]
    for place, record in enumerate(records):
        for number, person in enumerate(people):
            Decision.objects.create(
                kind="record", record=record, criterion=record.task.criteria.get(),
                source="person", person=person, value=not (number and place == 0),
                made_at=record.run.created_at,
            )  # fmt: skip
    page = page_of(judged)
    assert "Percent equal" in page
    assert "90" in page.partition("How far people agree")[2]


def test_a_slice_of_a_board_of_medians_is_a_median_with_its_interval(wide_board: Board) -> None:
    inputs = read_inputs(wide_board)
    assert inputs is not None
    places = {f"half={half}": list(range(half, 20, 2)) for half in range(2)}
    held = slicing.rows_over(inputs, rank_policy(inputs), places)
    assert [row["n"] for row in held] == [10, 10]
    cell = held[0]["entries"]["gamma"]
    assert cell["score"] == 10.0
    assert cell["low"] <= cell["score"] <= cell["high"]
    assert cell == slicing.rows_over(inputs, rank_policy(inputs), places)[0]["entries"]["gamma"]
    few = slicing.rows_over(inputs, rank_policy(inputs), {"few=1": [0, 1, 2]})[0]
    assert (few["entries"]["alpha"]["low"], few["entries"]["alpha"]["n"]) == (None, 3)


def test_the_reference_column_of_a_run_that_nobody_has_judged_is_no_zero(judged: Board) -> None:
    version = judged.versions.get()
    line = {"task": "q-0", "status": "answered", "answer": "done", "decisions": []}
    document = made.line_run(
        line, suite=f"{version.suite.slug}@{version.name}", entrant={"name": "Waiting"},
        run_id="r-waiting",
    )  # fmt: skip
    made.record_files(document, version)
    made.score_all()
    board = version.boards.get(policy__mode="strict")
    standings.publish_snapshot(board)
    row = next(r for r in newest(board).standings["standings"] if r["name"] == "Waiting")
    assert row["metrics"]["reference"] is None


def test_the_method_page_takes_its_numbers_from_the_code() -> None:
    page = Client().get("/method/").content.decode()
    for told in ("provisional: listed, not ranked", "As the original counts", "0.9474", "−0.0246"):
        assert told in page
    assert page.count("{%") == page.count("{{") == 0


def test_search_finds_boards_and_suites_by_words_of_their_descriptions(small_board: Board) -> None:
    Board.objects.filter(pk=small_board.pk).update(description="Pelican counting for everybody")
    found = Client().get("/search/?q=pelican everybody").content.decode()
    assert f"/boards/{small_board.slug}/" in found
    assert "Nothing fits" in Client().get("/search/?q=zeppelin").content.decode()
