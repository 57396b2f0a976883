"""Settings as they take effect: read back from Celery, from answers, from a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from academy.project.celery import app
from tests import factories as make

ROOT = Path(__file__).resolve().parent.parent
POLICY = {
    "default-src": {"'none'"},
    "style-src": {"'self'"},
    "script-src": {"'self'"},
    "img-src": {"'self'"},
    "font-src": {"'self'"},
    "connect-src": {"'self'"},
    "form-action": {"'self'"},
    "frame-ancestors": {"'none'"},
    "base-uri": {"'none'"},
}


def test_messages_are_json_and_nothing_else() -> None:
    assert app.conf.task_serializer == "json"
    assert list(app.conf.accept_content) == ["json"]


def test_results_are_rows_and_not_messages() -> None:
    assert app.conf.task_ignore_result is True
    assert app.conf.result_backend is None


def test_a_worker_takes_one_message_at_a_time_and_acknowledges_it_when_done() -> None:
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.task_acks_late is True


def test_no_job_runs_for_ever() -> None:
    assert 0 < app.conf.task_soft_time_limit < app.conf.task_time_limit < 3600


def test_a_job_stops_draining_long_before_its_limit() -> None:
    from academy.tasks import DRAIN_SECONDS

    assert app.conf.task_soft_time_limit / 2 > DRAIN_SECONDS


def test_the_limits_reach_the_jobs_themselves() -> None:
    app.loader.import_default_modules()
    own = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
    assert "academy.tasks.drain" in own
    for task in own.values():
        assert task.ignore_result is True
        assert task.acks_late is True
        assert task.serializer == "json"


def test_beat_nudges_what_is_due() -> None:
    app.loader.import_default_modules()
    schedule = app.conf.beat_schedule
    assert {entry["task"] for entry in schedule.values()} <= set(app.tasks)
    assert schedule["drain"]["schedule"] <= 5
    assert schedule["heartbeat"]["schedule"] < 60


def test_the_broker_is_the_one_that_is_configured() -> None:
    number = settings.REDIS_URL.rpartition("db=")[2]
    assert app.conf.broker_url == settings.CELERY_BROKER_URL
    assert app.conf.broker_url.endswith(f"virtual_host={number}")


@pytest.mark.django_db
def test_the_policy_on_every_page_lets_nothing_in_but_our_own_files() -> None:
    version = make.takeoff_version(2)
    run = make.takeoff_run(version)
    make.score_all()
    board = version.boards.order_by("pk")[0]
    record = run.records.order_by("id")[0]
    client = Client()
    client.force_login(make.person("curator", "curator"))
    paths = [
        "/",
        "/boards/",
        f"/boards/{board.slug}/",
        "/suites/",
        "/suites/example/1.0/",
        "/runs/",
        f"/runs/{run.pk}/",
        f"/records/{record.pk}/",
        "/review/",
        "/login/",
        "/admin/",
        "/admin/academy/run/",
        "/admin/academy/suite/import/",
        "/nobody/",
    ]
    for path in paths:
        response = client.get(path)
        assert policy_of(response.headers["Content-Security-Policy"]) == POLICY, path
        assert response.headers["X-Frame-Options"] == "DENY", path
        assert response.headers["X-Content-Type-Options"] == "nosniff", path
        assert response.headers["Referrer-Policy"] == "same-origin", path


def policy_of(header: str) -> dict[str, set[str]]:
    """A policy by directive."""
    parts = (part.split() for part in header.split(";") if part.strip())
    return {name: set(values) for name, *values in parts}


@pytest.mark.django_db
def test_pages_hold_no_code_that_the_policy_would_stop() -> None:
    version = make.takeoff_version(2)
    run = make.takeoff_run(version)
    make.score_all()
    client = Client()
    client.force_login(make.person("curator", "curator"))
    board = version.boards.order_by("pk")[0]
    record = run.records.order_by("id")[0]
    for path in (
        "/",
        f"/boards/{board.slug}/",
        f"/runs/{run.pk}/",
        f"/records/{record.pk}/",
        "/suites/example/1.0/",
        "/admin/academy/suite/import/",
        "/review/",
    ):
        page = client.get(path).content.decode()
        for sign in (" style=", "<style", " onclick=", " onload=", "javascript:", "hx-on"):
            assert sign not in page, (path, sign)
        for script in page.split("<script")[1:]:
            assert script.lstrip().startswith("src="), path


@pytest.mark.django_db
def test_cookies_are_strict() -> None:
    make.person("somebody")
    client = Client()
    client.get("/login/")
    response = client.post("/login/", {"username": "somebody", "password": make.PASSWORD})
    assert response.status_code == 302
    session = response.cookies["sessionid"]
    assert session["httponly"] is True
    assert session["samesite"] == "Lax"
    assert client.cookies["csrftoken"]["samesite"] == "Lax"


@pytest.mark.django_db
def test_a_form_from_another_site_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)
    make.person("somebody")
    response = client.post("/login/", {"username": "somebody", "password": make.PASSWORD})
    assert response.status_code == 403


def test_times_are_kept_with_their_zone() -> None:
    assert settings.USE_TZ is True
    assert settings.TIME_ZONE == "UTC"


def test_the_checks_of_the_project_find_nothing() -> None:
    call_command("check", fail_level="WARNING")


SHOWN = """
import json
from academy.project import settings
names = ["DEBUG", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT",
         "SECURE_HSTS_SECONDS", "SECURE_PROXY_SSL_HEADER", "SECRET_KEY", "ALLOWED_HOSTS"]
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


def in_a_process(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The settings as a process with this environment reads them."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SHOWN],
        cwd=ROOT,
        env={**kept, "ACADEMY_DATA": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def told(folder: Path, **environment: str) -> Any:
    ended = in_a_process(folder, **environment)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_production_sends_cookies_over_tls_only(tmp_path: Path) -> None:
    found = told(tmp_path, ACADEMY_PRODUCTION="1", ACADEMY_SECRET_KEY="kept-elsewhere")
    assert found["DEBUG"] is False
    assert found["SESSION_COOKIE_SECURE"] is True
    assert found["CSRF_COOKIE_SECURE"] is True
    assert found["SECURE_SSL_REDIRECT"] is True
    assert found["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert found["SECRET_KEY"] == "kept-elsewhere"


def test_production_without_a_key_does_not_start(tmp_path: Path) -> None:
    ended = in_a_process(tmp_path, ACADEMY_PRODUCTION="1")
    assert ended.returncode != 0
    assert "Set ACADEMY_SECRET_KEY in production." in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_laptop_makes_a_key_once_and_keeps_it_to_itself(tmp_path: Path) -> None:
    first = told(tmp_path)
    second = told(tmp_path)
    assert first["SECRET_KEY"] == second["SECRET_KEY"]
    assert len(first["SECRET_KEY"]) > 40
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600
    assert first["DEBUG"] is False


def test_nonsense_in_the_environment_is_loud(tmp_path: Path) -> None:
    ended = in_a_process(tmp_path, ACADEMY_LEASE_SECONDS="soon")
    assert ended.returncode != 0
