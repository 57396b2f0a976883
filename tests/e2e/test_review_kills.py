"""The browser or the server dies at random points: no keystroke older than two seconds is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import Browser, Page, expect

from adjudication.models import Draft, Seat
from tests.acceptance.base import BASE_DIR
from tests.adjudication.builders import reviewer
from tests.e2e import builders as build
from tests.e2e.conftest import PATIENCE_MS, Site
from tests.e2e.test_review import claim
from tests.project.processes import free_port, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WORDS = "the sum leaves out the ride of the third of march, which step four shows; "
KEPT_WITHIN = 2.0
KEY_SECONDS = 0.05


@dataclass
class Typist:
    """Somebody who types without a pause that a save could wait for, and notes the time."""

    page: Page
    typed: list[tuple[float, str]] = field(default_factory=list)

    def type(self, count: int) -> None:
        """Type so many further letters."""
        for place in range(len(self.typed), len(self.typed) + count):
            letter = WORDS[place % len(WORDS)]
            self.page.keyboard.type(letter)
            self.typed.append((time.monotonic(), letter))
            time.sleep(KEY_SECONDS)

    def before(self, at: float) -> str:
        """What was typed up to a time."""
        return "".join(letter for then, letter in self.typed if then <= at)


def kept_words() -> str:
    """What the server holds of the first reason."""
    content = Draft.objects.get().content
    return str(content.get("R1", {}).get("reason", ""))


@pytest.mark.parametrize("seed", range(3))
def test_a_browser_that_is_killed_at_any_moment_loses_two_seconds_at_most(
    site: Site, seed: int
) -> None:
    build.waiting(1)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.keyboard.press("2")
    typist = Typist(page)
    typist.type(random.Random(seed).randint(50, 110))
    killed_at = time.monotonic()
    page.context.close()
    site.contexts.clear()
    safe = typist.before(killed_at - KEPT_WITHIN)
    assert len(safe) > 5
    # A request that had left the browser may still be on its way.
    assert wait_for(lambda: kept_words().startswith(safe), seconds=5), (safe, kept_words())


@dataclass
class Server:
    """The product's own web server in a process group of its own, on the tests' database."""

    environment: dict[str, str]
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws"]
        command += ["--host", "127.0.0.1", "--port", str(self.port), "--log-level", "error"]
        self.process = subprocess.Popen(
            [*command, "academy.project.wsgi:application"],
            cwd=BASE_DIR,
            env=self.environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert wait_for(self.answers, seconds=60)

    def answers(self) -> bool:
        """Whether somebody listens."""
        asked = subprocess.run(
            ["curl", "-fs", "-o", os.devnull, f"http://127.0.0.1:{self.port}/healthz"],
            check=False,
        )
        return asked.returncode == 0

    def kill(self) -> None:
        """End it at once, with all it was about to do."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture
def server(tmp_path: Path, transactional_db: Any) -> Iterator[Server]:
    """A server that can be killed; its sessions are those of the tests."""
    name = connection.settings_dict["NAME"]
    environment = {
        **os.environ,
        "ACADEMY_DATA": str(tmp_path),
        "ACADEMY_SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl(),
    }
    (tmp_path / "static").mkdir()
    made = Server(environment, free_port())
    made.start()
    yield made
    made.kill()


@pytest.mark.parametrize("seed", range(3))
def test_a_server_that_is_killed_at_any_moment_loses_two_seconds_at_most(
    server: Server, browser: Browser, seed: int
) -> None:
    dice = random.Random(100 + seed)
    build.waiting(1)
    site = Site(f"http://127.0.0.1:{server.port}", browser)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.keyboard.press("2")
    typist = Typist(page)
    typist.type(dice.randint(50, 110))
    killed_at = time.monotonic()
    server.kill()
    safe = typist.before(killed_at - KEPT_WITHIN)
    assert len(safe) > 5
    assert kept_words().startswith(safe)

    typist.type(dice.randint(5, 30))
    server.start()
    everything = typist.before(time.monotonic())
    # The page tries again by itself; nobody has to type another letter.
    expect(page.locator("#saved")).to_contain_text("saved", timeout=2 * PATIENCE_MS)
    assert wait_for(lambda: kept_words() == everything, seconds=30), kept_words()
    assert Seat.objects.get().state == "held"
    page.context.close()
