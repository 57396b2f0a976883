"""How pages are asked for and read."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils.html import strip_tags

from academy.models import InstanceRecord, Run
from leaderboard.models import Board


def record_of(run: Run) -> InstanceRecord:
    """The first record of a run."""
    record = InstanceRecord.objects.of_run(run.pk).order_by("id").first()
    assert record is not None
    return record


def text(response: HttpResponse) -> str:
    """The words of a page, with single spaces."""
    return " ".join(strip_tags(response.content.decode()).split())


def by_htmx(client: Client, path: str, part: str) -> Any:
    """Ask as htmx does that wants one part of a page."""
    return client.get(path, headers={"HX-Request": "true", "HX-Target": part})


def addresses(run: Run) -> list[str]:
    """Every public address that shows a run or leads to it."""
    board = Board.objects.filter(versions=run.version).order_by("pk")[0]
    record = record_of(run)
    return [
        "/",
        "/suites/",
        f"/suites/{run.version.suite.slug}/",
        f"/suites/{run.version.suite.slug}/1.0/",
        "/runs/",
        f"/runs/{run.pk}/",
        f"/records/{record.pk}/",
        f"/records/{record.pk}/raw/",
        "/boards/",
        f"/boards/{board.slug}/",
        f"/boards/{board.slug}/standings.json",
        f"/boards/{board.slug}/standings.csv",
        "/healthz",
        "/login/",
    ]
