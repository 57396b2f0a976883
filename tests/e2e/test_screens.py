"""Every page on a phone, zoomed, dark, by keyboard, and as assistive technology reads it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Page

from adjudication import claiming
from adjudication.models import Seat
from tests import factories as made
from tests.e2e import builders as build
from tests.e2e.conftest import Site
from tests.e2e.test_review import tab_to
from tests.leaderboard.boarding import drawn_version, off
from tests.leaderboard.test_rating_boards import rated_board

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

UNLABELLED = """() => [...document.querySelectorAll('input, select, textarea, button, a[href]')]
  .filter(node => node.type !== 'hidden' && node.checkVisibility())
  .filter(node => {
    const named = (node.getAttribute('aria-labelledby') || '').split(' ')
      .map(id => document.getElementById(id)).filter(Boolean);
    const labels = [...(node.labels || []), ...named].map(label => label.textContent);
    const own = node.matches('button, a') ? node.textContent : '';
    return !(labels.join('') + (node.getAttribute('aria-label') || '') + own).trim();
  }).map(node => node.outerHTML.slice(0, 120))"""
TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('body *')]
    .filter(node => !node.closest('.scroller, .vh'))
    .filter(node => node.getBoundingClientRect().right > width + 1)
    .map(node => node.outerHTML.slice(0, 120)).slice(0, 5).concat(['the page scrolls sideways']);
}"""
COLOURS = """() => ['backgroundColor', 'color'].map(name => {
  const parts = getComputedStyle(document.body)[name].match(/[\\d.]+/g).slice(0, 3).map(Number);
  return Math.max(...parts) / 255;
})"""


@pytest.fixture
def paths(live_server: Any) -> dict[str, str]:
    """An address of each kind of page."""
    queue = build.waiting(3)
    rita = build.build.reviewer("rita")
    done = claiming.claim_next(queue, user=rita)
    assert isinstance(done, Seat)
    build.build.decide(done, rita, True, False, reason="Another sum.")
    seat = claiming.claim_next(queue, user=rita)
    assert isinstance(seat, Seat)
    version = queue.version
    return {
        "home": "/",
        "boards": "/boards/",
        "board": f"/boards/{build.board_of(queue).slug}/",
        "suites": "/suites/",
        "version": f"/suites/{version.suite.slug}/{version.name}/",
        "runs": "/runs/",
        "run": f"/runs/{build.run_of(queue).pk}/",
        "record": f"/records/{seat.item.record_id}/",
        "queue": "/review/",
        "review": f"/review/seats/{seat.pk}/",
        "outcome": f"/review/seats/{done.pk}/",
    }


def rita() -> Any:
    return get_user_model().objects.get(username="rita")


def test_no_page_scrolls_sideways_on_a_phone_or_zoomed(site: Site, paths: dict[str, str]) -> None:
    page = site.sign_in(rita(), viewport={"width": 390, "height": 844})
    found = {}
    for name, path in paths.items():
        page.goto(path)
        for width in (390, 720):
            page.set_viewport_size({"width": width, "height": 844})
            if wide := page.evaluate(TOO_WIDE):
                found[f"{name} at {width}"] = wide
    assert found == {}


def test_a_board_of_many_measures_is_no_wider_than_the_screen(site: Site) -> None:
    page = site.visit(f"/boards/{rated_board().slug}/")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(TOO_WIDE) == [], width


def test_rank_entry_and_score_of_a_board_are_in_sight_on_a_phone(site: Site) -> None:
    version = drawn_version("takeoff", 8)
    for places, name in enumerate(("Example Heron", "Example Magpie"), 2):
        made.takeoff_run(version, off(places, 60, of=8), name=name)
    made.score_all()
    page = site.visit(f"/boards/{version.boards.get().slug}/")
    page.set_viewport_size({"width": 390, "height": 844})
    ends = page.evaluate("""() => [...document.querySelectorAll('.board tbody tr')]
      .map(row => row.cells[3]).filter(Boolean).map(cell => cell.getBoundingClientRect().right)""")
    assert len(ends) > 2
    assert max(ends) <= 390


def test_every_page_has_one_heading_and_names_its_controls(
    site: Site, paths: dict[str, str]
) -> None:
    page = site.sign_in(rita())
    problems = []
    for name, path in {**paths, "sign in": "/login/"}.items():
        page.goto(path)
        if (headings := page.locator("h1").count()) != 1:
            problems.append(f"{name} has {headings} h1")
        problems += [f"{name}: {node}" for node in page.evaluate(UNLABELLED)]
        ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(node => node.id)")
        problems += [f"{name}: id {twice} twice" for twice in {i for i in ids if ids.count(i) > 1}]
    assert problems == []


def test_every_page_is_dark_where_the_reader_wants_it(site: Site, paths: dict[str, str]) -> None:
    page = site.sign_in(rita(), color_scheme="dark")
    for name, path in paths.items():
        page.goto(path)
        ground, ink = page.evaluate(COLOURS)
        assert ground < 0.15 < 0.85 < ink, name


MAIN_ACTIONS = {
    "home": ("link", "Open the boards"),
    "board": ("link", "Grey Heron"),
    "run": ("link", "q-0"),
    "queue": ("link", "Resume"),
    "review": ("button", "Submit and next"),
    "outcome": ("button", "Next item"),
}


def test_the_main_action_of_each_page_is_reached_by_the_tab_key(
    site: Site, paths: dict[str, str]
) -> None:
    page = site.sign_in(rita())
    for name, (role, label) in MAIN_ACTIONS.items():
        page.goto(paths[name])
        tab_to(page, label, role=role)
        assert has_ring(page), name


def has_ring(page: Page) -> bool:
    """Whether the focused control can be seen to be it."""
    found: str = page.evaluate(
        "() => { const style = getComputedStyle(document.activeElement);"
        " return style.boxShadow + ' ' + style.outlineStyle; }"
    )
    return re.fullmatch("none none", found) is None
