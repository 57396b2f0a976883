"""Curators set the policies of boards in the admin; nobody else does."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from academy.models import AuditEvent
from leaderboard import boards
from leaderboard.forms import BoardForm
from leaderboard.models import Board, BoardRevision
from tests import factories as made
from tests.leaderboard.boarding import newest

pytestmark = pytest.mark.django_db


def signed_in(*roles: str) -> Client:
    client = Client()
    client.force_login(made.person("-".join(roles), *roles, is_staff=True))
    return client


def fields_of(board: Board, **changes: Any) -> dict[str, Any]:
    form = BoardForm(instance=board)
    held = {name: form.get_initial_for_field(form.fields[name], name) for name in form.fields}
    held["versions"] = [version.pk for version in board.versions.all()]
    held["where"] = '{"competency": "area-takeoff"}'
    said = {**held, **changes}
    return {
        name: "on" if value is True else value
        for name, value in said.items()
        if value not in (None, False)
    }


def test_a_curator_changes_a_policy_and_a_snapshot_follows(small_board: Board) -> None:
    board = small_board
    client = signed_in("curator")
    address = f"/admin/leaderboard/board/{board.pk}/change/"
    assert client.get(address).status_code == 200
    sent = fields_of(board, attempts="best", confidence="0.9", title="Areas", reason="asked for")
    response = client.post(address, sent)
    assert response.status_code == 302, response.context["adminform"].form.errors
    board.refresh_from_db()
    assert (board.policy["attempts"], board.policy["confidence"]) == ("best", 0.9)
    assert (board.revision, board.title) == (2, "Areas")
    assert BoardRevision.objects.filter(board=board).count() == 1
    assert AuditEvent.objects.get(act="board.revise").reason == "asked for"
    made.score_all()
    assert newest(board).standings["policy"]["attempts"] == "best"


def test_a_wrong_policy_is_shown_at_its_field_and_changes_nothing() -> None:
    (board,) = boards.ensure_boards(made.takeoff_version(3, slug="other"))
    client = signed_in("curator")
    address = f"/admin/leaderboard/board/{board.pk}/change/"
    for changes, field in (
        ({"metric": "nothing"}, "metric"),
        ({"slices": "nothing"}, "slices"),
        ({"coverage": "2"}, "coverage"),
        ({"where": "[1]"}, "where"),
        ({"evidence": "rumour"}, "evidence"),
    ):
        response = client.post(address, fields_of(board, **changes))
        assert response.status_code == 200
        assert field in response.context["adminform"].form.errors
    board.refresh_from_db()
    assert board.revision == 1


@pytest.mark.parametrize("role", ["reviewer", "adjudicator", "entrant", "auditor"])
def test_others_cannot_open_or_change_boards_in_the_admin(role: str) -> None:
    (board,) = boards.ensure_boards(made.takeoff_version(3, slug="other"))
    client = signed_in(role)
    for address in (f"/admin/leaderboard/board/{board.pk}/change/", "/admin/leaderboard/board/"):
        assert client.get(address).status_code == 403
    assert client.post(address, {}).status_code == 403


def test_a_waiting_snapshot_is_published_by_an_action(small_board: Board) -> None:
    board = small_board
    boards.change_board(
        board,
        boards.StoredPolicy.read({**board.policy, "publishing": "by_hand"}),
        list(board.versions.all()),
    )
    made.score_all()
    waiting = board.snapshots.order_by("-number").first()
    client = signed_in("curator")
    client.post(
        "/admin/leaderboard/snapshot/",
        {"action": "publish", "_selected_action": [str(waiting.pk)]},
    )
    waiting.refresh_from_db()
    assert waiting.published_at is not None
    client.post("/admin/leaderboard/board/", {"action": "delete_selected"})
    assert Board.objects.filter(pk=board.pk).exists()


def test_a_policy_that_counts_no_task_or_names_one_thing_twice_is_refused() -> None:
    (board,) = boards.ensure_boards(made.takeoff_version(3, slug="other"))
    client = signed_in("curator")
    address = f"/admin/leaderboard/board/{board.pk}/change/"
    for changes, field, told in (
        ({"where": '{"competency": "nothing"}'}, "where", "No task of other@1.0"),
        ({"slices": "competency, competency"}, "slices", "twice"),
        ({"secondary": board.policy["metric"]}, "secondary", "own metric already"),
        ({"metric": "nothing"}, "metric", "it has"),
        ({"cluster": "nothing"}, "cluster", "It has"),
    ):
        response = client.post(address, fields_of(board, **changes))
        assert response.status_code == 200
        errors = response.context["adminform"].form.errors
        assert told in str(errors[field]), errors
    board.refresh_from_db()
    assert board.revision == 1


def test_earlier_snapshots_stay_as_they_were_when_the_policy_changes(small_board: Board) -> None:
    board = small_board
    before = newest(board)
    page = Client().get(f"/boards/{board.slug}/snapshots/{before.number}/standings.json").json()
    client = signed_in("curator")
    for place, changes in enumerate(
        (
            {"attempts": "best"}, {"confidence": "0.9"}, {"coverage": "0.5"}, {"verification": "4"},
            {"ranked": False}, {"slices": "competency"}, {"cluster": "competency"},
            {"publishing": "by_hand"},
        ),
        start=2,
    ):  # fmt: skip
        sent = fields_of(Board.objects.get(pk=board.pk), **changes)
        response = client.post(f"/admin/leaderboard/board/{board.pk}/change/", sent)
        assert response.status_code == 302, response.context["adminform"].form.errors
        board.refresh_from_db()
        assert board.revision == place
        made.score_all()
    assert BoardRevision.objects.filter(board=board).count() == 8
    again = Client().get(f"/boards/{board.slug}/snapshots/{before.number}/standings.json").json()
    assert again == page
    assert newest(board).standings["policy"]["cluster"] == "competency"
