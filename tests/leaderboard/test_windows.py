"""Tiers rest on recorded windows and recorded human runs, never on what an upload says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from academy import ending
from academy.errors import AcademyError
from academy.models import HumanBaseline, Run, RunResult, SuiteVersion
from leaderboard import boards, certifying, windowing
from leaderboard.models import Board, Window, WindowResult
from tests import factories as made
from tests.leaderboard.boarding import drawn_version, newest

pytestmark = pytest.mark.django_db
TASKS = 8


def entered(version: SuiteVersion, error: float, name: str = "Alpha", **more: Any) -> Run:
    """A run that is off by the same per cent on every task."""
    values = {f"t-{place}": 100 + error for place in range(TASKS)}
    return made.takeoff_run(version, values, name=name, **more)


def tier_of(run: Run) -> str | None:
    row = RunResult.objects.get(
        run=run, mode="strict", slice="competency=area-takeoff", scoring_pass__state="published"
    )
    tier: str | None = row.details["tier"]
    return tier


def three_runs(version: SuiteVersion, *errors: float) -> tuple[list[Run], list[datetime]]:
    """Runs of one entrant one after the other, and the moments between them."""
    moments, runs = [timezone.now() - timedelta(days=1)], []
    for error in errors:
        runs.append(entered(version, error))
        moments.append(timezone.now())
    moments[-1] += timedelta(days=1)
    made.score_all()
    return runs, moments


def windowed(board: Board, moments: list[datetime]) -> list[Window]:
    return [
        windowing.open_window(board, f"window {place}", start, end)
        for place, (start, end) in enumerate(pairwise(moments))
    ]


def test_journeyman_is_who_held_the_bar_in_three_recorded_windows() -> None:
    version = drawn_version(tasks=TASKS)
    runs, moments = three_runs(version, 5, 4, 3)
    assert [tier_of(run) for run in runs] == ["apprentice"] * 3
    board = version.boards.get()
    windowed(board, moments)
    made.score_all()
    assert [tier_of(run) for run in runs] == ["apprentice", "apprentice", "journeyman"]
    held = WindowResult.objects.filter(current=True).order_by("window__opens_at")
    assert [(row.run_id, row.passed) for row in held] == [(run.pk, True) for run in runs]
    certificate = certifying.issue(newest(board), "alpha", by=None, reason="looked at it")
    assert certificate.tier == "journeyman"
    assert certificate.document["windows_before"] == ["window 0", "window 1"]
    assert certificate.document["human"] is None


def test_a_missed_window_or_a_withdrawn_run_leaves_apprentice() -> None:
    version = drawn_version(tasks=TASKS)
    runs, moments = three_runs(version, 5, 7, 3, 3)
    board = version.boards.get()
    windowed(board, moments)
    made.score_all()
    assert tier_of(runs[-1]) == "journeyman"
    assert WindowResult.objects.get(run=runs[1], current=True).passed is False
    ending.withdraw_run(runs[0], reason="wrong prompt")
    made.score_all()
    assert tier_of(runs[-1]) == "apprentice"


def test_several_runs_in_one_window_are_one_window() -> None:
    version = drawn_version(tasks=TASKS)
    runs, moments = three_runs(version, 5, 4, 3)
    windowed(version.boards.get(), [moments[0], moments[-1]])
    made.score_all()
    assert [tier_of(run) for run in runs] == ["apprentice"] * 3


def test_master_needs_to_be_better_than_a_complete_run_that_a_person_made() -> None:
    version = drawn_version(tasks=TASKS)
    run = entered(version, 1)
    made.score_all()
    assert tier_of(run) == "apprentice"
    person = entered(version, 2, name="Example person", kind=Run.Kind.HUMAN)
    made.takeoff_run(version, {"t-0": 100}, name="Half a person", kind=Run.Kind.HUMAN)
    made.score_all()
    assert tier_of(run) == "master"
    row = HumanBaseline.objects.get(current=True, slice="competency=area-takeoff")
    assert (row.value, row.run_id, row.runs) == (2.0, person.pk, [person.pk])
    board = version.boards.get()
    certificate = certifying.issue(newest(board), "alpha", by=None, reason="looked at it")
    human = certificate.document["human"]
    assert (human["run"], human["value"], human["revision"]) == (person.pk, 2.0, 1)
    page = Client().get(f"/certificates/{certificate.serial}/").content.decode()
    assert f"/runs/{person.pk}/" in page
    equal = entered(version, 1, name="Equal person", kind=Run.Kind.HUMAN)
    made.score_all()
    assert tier_of(run) == "apprentice"
    certificate.refresh_from_db()
    assert certificate.state == "under_review"
    ending.withdraw_run(equal, reason="used a calculator")
    made.score_all()
    assert tier_of(run) == "master"
    history = HumanBaseline.objects.filter(slice="competency=area-takeoff").order_by("revision")
    assert [held.value for held in history] == [2.0, 1.0, 2.0]


def test_without_a_human_run_nobody_is_master_whatever_the_suite_publishes() -> None:
    version = drawn_version(tasks=TASKS)
    run = entered(version, 0)
    made.score_all()
    assert tier_of(run) == "apprentice"
    assert "baseline" in version.thresholds["area-takeoff"]


def test_windows_overlap_no_other_and_stay_once_they_hold_results() -> None:
    version = drawn_version(tasks=TASKS)
    _runs, moments = three_runs(version, 5)
    board = version.boards.get()
    (window,) = windowed(board, moments)
    start, end = moments
    with pytest.raises(AcademyError, match="overlaps"):
        windowing.open_window(board, "other", end - timedelta(hours=1), end + timedelta(1))
    with pytest.raises(AcademyError, match="closes after"):
        windowing.open_window(board, "other", end, end)
    with pytest.raises(AcademyError, match="already"):
        windowing.open_window(board, window.label, end, end + timedelta(1))
    moved = windowing.open_window(board, window.label, start, end, window=window)
    assert moved.pk == window.pk
    made.score_all()
    with pytest.raises(AcademyError, match="holds results"):
        windowing.open_window(board, window.label, start, end + timedelta(1), window=window)
    with pytest.raises(IntegrityError), transaction.atomic():
        Window.objects.filter(pk=window.pk).update(closes_at=end + timedelta(1))
    with pytest.raises(IntegrityError), transaction.atomic():
        WindowResult.objects.update(passed=False)


def test_curators_set_windows_in_the_admin() -> None:
    version = drawn_version(tasks=TASKS)
    _runs, _moments = three_runs(version, 5)
    board = version.boards.get()
    curator = Client()
    curator.force_login(made.person("curator", "curator", is_staff=True))
    sent = {
        "board": board.pk, "label": "autumn", "opens_at_0": "2026-01-01", "opens_at_1": "00:00",
        "closes_at_0": "2126-01-01", "closes_at_1": "00:00",
    }  # fmt: skip
    assert curator.post("/admin/leaderboard/window/add/", sent).status_code == 302
    made.score_all()
    window = board.windows.get()
    assert window.results.filter(current=True).count() == 1
    clash = curator.post("/admin/leaderboard/window/add/", {**sent, "label": "winter"})
    assert "overlaps" in str(clash.context["adminform"].form.errors)
    page = curator.get(f"/admin/leaderboard/window/{window.pk}/change/").content.decode()
    assert 'name="opens_at_0"' not in page
    listed = curator.get("/admin/leaderboard/windowresult/").content.decode()
    assert "apprentice" in listed


def test_an_instant_does_not_move_when_a_window_is_saved_as_it_stands() -> None:
    (board,) = boards.ensure_boards(drawn_version(tasks=1))
    # Midnight where the curator sits, and what the admin shows of it in UTC.
    there = timezone.get_fixed_timezone(8 * 60)
    opens, closes = datetime(2026, 3, 1, tzinfo=there), datetime(2026, 3, 31, tzinfo=there)
    window = windowing.open_window(board, "March", opens, closes)
    client = Client()
    client.force_login(made.person("curator", "curator", is_staff=True))
    address = f"/admin/leaderboard/window/{window.pk}/change/"
    form = client.get(address).context["adminform"].form
    sent = {"board": board.pk, "label": "March"}
    for name in ("opens_at", "closes_at"):
        shown = form.get_initial_for_field(form.fields[name], name).astimezone(UTC)
        sent |= {f"{name}_0": f"{shown:%Y-%m-%d}", f"{name}_1": f"{shown:%H:%M:%S}"}
    assert (sent["closes_at_0"], sent["closes_at_1"]) == ("2026-03-30", "16:00:00")
    assert client.post(address, sent).status_code == 302
    window.refresh_from_db()
    assert (window.opens_at, window.closes_at) == (opens, closes)


def test_a_run_that_came_in_before_the_end_counts_however_late_it_is_scored() -> None:
    version = drawn_version(tasks=TASKS)
    (board,) = boards.ensure_boards(version)
    inside, outside = entered(version, 3, "Alpha"), entered(version, 3, "Beta")
    start, end = inside.created_at, outside.created_at
    window = windowing.open_window(board, "past", start, end)
    made.score_all()
    assert timezone.now() > end
    held = WindowResult.objects.filter(window=window, current=True)
    assert [(row.run_id, row.passed) for row in held] == [(inside.pk, True)]
