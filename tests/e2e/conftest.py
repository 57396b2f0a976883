"""A browser, a served site, and a worker that does what is owed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from academy import work

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE_MS = 15_000


@pytest.fixture(scope="package")
def browser(chromium: Path) -> Iterator[Browser]:
    """Chromium without a window. Its loop runs in this thread, where Django is synchronous."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        with sync_playwright() as playwright:
            launched = playwright.chromium.launch(executable_path=str(chromium), args=ARGUMENTS)
            yield launched
            launched.close()
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def start_worker(live_server: Any) -> Iterator[Callable[[], None]]:
    """Start somebody who does what is owed, as soon as it is owed."""
    done = threading.Event()

    def run() -> None:
        try:
            while not done.wait(0.2):
                work.drain("e2e")
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    yield thread.start
    done.set()
    if thread.ident:
        thread.join()


@dataclass
class Site:
    """The served site, and everything that a browser complained about on it.

    `expected` are words of complaints that a test brings about on purpose.
    """

    url: str
    browser: Browser
    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def visit(self, path: str = "/", **options: Any) -> Page:
        """A page in a context of its own."""
        context = self.browser.new_context(base_url=self.url, reduced_motion="reduce", **options)
        context.set_default_timeout(PATIENCE_MS)
        self.contexts.append(context)
        page = context.new_page()
        self.listen(page)
        page.goto(path)
        return page

    def listen(self, page: Page) -> None:
        """Note what the page's console says that should not be there."""

        def heard(message: ConsoleMessage) -> None:
            is_expected = any(words in message.text for words in self.expected)
            if message.type in ("error", "warning") and not is_expected:
                self.complaints.append(f"{page.url}: {message.text}")

        page.on("console", heard)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))

    def sign_in(self, user: Any, path: str = "/review/", **options: Any) -> Page:
        """A page of somebody who is signed in, in a context of its own."""
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        cookie = {"name": "sessionid", "value": session, "url": self.url}
        page = self.visit("about:blank", **options)
        page.context.add_cookies([cookie])  # type: ignore[list-item]
        page.goto(path)
        return page


@pytest.fixture
def site(live_server: Any, browser: Browser) -> Iterator[Site]:
    """The site; a test fails when any page had an error in its console."""
    made = Site(live_server.url, browser)
    yield made
    for context in made.contexts:
        context.close()
    assert made.complaints == []
