"""An open run is closed once, by command, and stands on its board from then on."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from academy import ending
from academy.errors import AcademyError
from academy.models import Run
from tests import factories as make

pytestmark = pytest.mark.django_db


def an_open_run() -> Run:
    run = make.takeoff_run(make.takeoff_version(2))
    Run.objects.filter(pk=run.pk).update(state=Run.State.OPEN, closed_at=None)
    run.refresh_from_db()
    return run


def test_an_open_run_is_closed_by_command_and_the_second_time_changes_nothing() -> None:
    run = an_open_run()
    for _time in range(2):
        printed = io.StringIO()
        call_command("close_run", str(run.pk), "--json", stdout=printed)
        told = json.loads(printed.getvalue())
        assert told == {"ok": True, "runs": [{"run": run.pk, "state": "closed"}]}
    run.refresh_from_db()
    assert (run.state, run.closed_at is None) == ("closed", False)
    assert run.events.filter(state="closed", reason="all pieces received").count() == 1


def test_a_withdrawn_run_is_not_closed() -> None:
    run = an_open_run()
    ending.withdraw_run(run, reason="entered by mistake")
    with pytest.raises(AcademyError, match="is withdrawn; it cannot be closed"):
        ending.close_run(run, reason="all pieces received")


def test_an_unknown_run_is_refused_by_name() -> None:
    with pytest.raises(SystemExit):
        call_command("close_run", "16000000", stderr=io.StringIO())
