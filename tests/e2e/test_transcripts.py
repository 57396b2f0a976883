"""Transcripts in a real browser: hostile text does nothing; keys, links, narrow pages work."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.academy import transcript_examples as example
from tests.e2e.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_hostile_text_runs_nothing_loads_nothing_and_covers_nothing(site: Site) -> None:
    hostile = {"text": example.HOSTILE, "title": example.HOSTILE, "data": {"x": example.HOSTILE}}
    record = example.record_with(
        {"kind": "message", **hostile}, {"kind": "tool_result", **hostile}, answer=example.HOSTILE
    )
    page = site.visit("about:blank")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto(reverse("academy:record", args=[record.pk]))
    title = page.title()
    for name in ("Raw", "Readable"):
        link = page.get_by_role("group", name="View").get_by_role("link", name=name, exact=True)
        link.click()
        expect(link).to_have_attribute("aria-current", "true")
        expect(page.locator("h1")).to_have_count(1)
    assert page.title() == title
    assert [url for url in asked if not url.startswith(site.url)] == []
    assert page.locator("#steps a[href^=javascript], #steps img, #steps script").count() == 0
    page.get_by_role("searchbox", name="Words to look for").click()


def test_a_long_transcript_is_searched_and_walked_by_keys_alone(site: Site) -> None:
    events = [{"kind": "message", "text": f"Text of {n}."} for n in range(1, 121)]
    events[99]["text"] = "the needle"
    record = example.record_with(*events)
    page = site.visit(reverse("academy:record", args=[record.pk]))
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "s2"
    page.keyboard.press("f")
    page.keyboard.type("NEEDLE")
    page.keyboard.press("Enter")
    page.wait_for_selector("#s100 mark")
    assert "q=NEEDLE" in page.url
    page.reload()
    assert page.locator("#s100 mark").inner_text() == "needle"
    assert page.locator("#steps-q").input_value() == "NEEDLE"


def test_a_transcript_works_without_scripts(site: Site) -> None:
    record = example.record_with(
        *[{"kind": "message", "text": f"Text of {n}."} for n in range(1, 46)]
    )
    page = site.visit(reverse("academy:record", args=[record.pk]), java_script_enabled=False)
    page.get_by_role("link", name="Show the next steps").click()
    assert page.get_by_text("Text of 21.").is_visible()
    page.locator("#steps-q").fill("of 45.")
    page.locator("#steps-find").click()
    assert page.locator("#s45 mark").inner_text() == "of 45."


@pytest.mark.parametrize("width", [390, 720])
def test_a_transcript_never_scrolls_sideways_on_narrow_pages(site: Site, width: int) -> None:
    record = example.record_with(
        {"kind": "message", "text": "| " + "wide | " * 12 + "\n|" + "---|" * 12 + "\n"},
        {"kind": "tool_result", "text": "x" * 3_000, "tool": "t" * 90},
        {"kind": "message", "text": example.HOSTILE, "role": "r" * 80},
    )
    for query in ("", "?view=raw", "?q=x"):
        page = site.visit(
            reverse("academy:record", args=[record.pk]) + query,
            viewport={"width": width, "height": 800},
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_text("Jump to a step").click()
        assert page.locator(".jump-box a").first.is_visible()
