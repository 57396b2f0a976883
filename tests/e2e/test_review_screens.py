"""Every screen of review on a phone, at 200 %, dark, named for screen readers, and reachable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adjudication import claiming, deciding, inviting
from adjudication.models import Queue, Seat
from tests.adjudication.builders import claimed, person, reviewer, verdicts
from tests.e2e import builders as build
from tests.e2e.conftest import Site
from tests.e2e.test_review import tab_to
from tests.e2e.test_screens import COLOURS, TOO_WIDE, UNLABELLED, has_ring

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# A phone, 1440 pixels at 200 %, and windows where a side column is beside the main one.
WIDTHS = (390, 720, 1000, 1280)
ASIDE_ACTS = """() => [...document.querySelectorAll('.scroller button, .scroller input')]
  .filter(node => node.checkVisibility() && !node.closest('.vh'))
  .filter(node => node.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    || node.getBoundingClientRect().right > node.closest('.scroller').getBoundingClientRect().right)
  .map(node => 'reached sideways only: ' + node.outerHTML.slice(0, 120))"""
UNNAMED_GROUPS = """() => [
  ...document.querySelectorAll('[role=radiogroup], [role=group], fieldset')]
  .filter(node => node.checkVisibility())
  .filter(node => !(node.getAttribute('aria-label') || node.getAttribute('aria-labelledby')
    || node.querySelector(':scope > legend')))
  .map(node => node.outerHTML.slice(0, 120))"""
LOOSE_RADIOS = """() => [...document.querySelectorAll('input[type=radio]')]
  .filter(node => node.checkVisibility())
  .filter(node => !node.closest('fieldset, [role=radiogroup], [role=group]'))
  .map(node => node.outerHTML.slice(0, 120))"""


@dataclass(frozen=True)
class Screen:
    """A page of review, who sees it, and its main action."""

    name: str
    user: Any
    path: str
    role: str = ""
    action: str = ""


def seat_of(queue: Queue, user: Any, role: str = "reviewer") -> str:
    """The address of the seat that somebody takes."""
    seat = claiming.claim_next(queue, user=user, role=role)
    assert isinstance(seat, Seat)
    return f"/review/seats/{seat.pk}/"


def invited() -> str:
    """The page of invitations, with an open one."""
    ida = person("ida", "curator")
    home = ida.memberships.get().organization
    inviting.invite(role="reviewer", organization=home, days=7, by=ida)
    return "/review/invitations/"


@pytest.fixture
def screens(live_server: Any) -> list[Screen]:
    """Each screen of review, with something on it."""
    split = build.split()
    otto, rita, ruth, rosa = person("otto", "adjudicator"), *map(reviewer, ("rita", "ruth", "rosa"))
    third = seat_of(split, otto, "third")
    rated, routed = build.rated(), build.routed()
    task, run = routed.items.filter(record=None).get(), routed.items.exclude(record=None).get()
    ratings = seat_of(rated, rita)
    fixture = claimed(routed, ruth, prefer=task.pk)
    own = claimed(routed, rosa, prefer=run.pk)
    done = split.items.get().seats.get(number=1)
    return [
        Screen("queues", ruth, "/review/", "link", "Resume"),
        Screen("queues of a third person", otto, "/review/", "link", "Resume"),
        Screen("invitations", person("ivy", "curator"), invited()),
        Screen("drafts", ruth, "/review/?s=draft"),
        Screen("submitted", done.holder, "/review/?s=submitted"),
        Screen("history", done.holder, "/review/history/"),
        Screen("third", otto, third, "button", "Decide"),
        Screen("evidence", otto, f"{third}evidence/"),
        Screen("ratings", rita, ratings, "button", "Submit and next"),
        Screen("raw", rita, f"{ratings}raw/"),
        Screen("routing", ruth, f"/review/seats/{fixture.pk}/", "button", "Submit and next"),
        Screen("run's routing", rosa, f"/review/seats/{own.pk}/", "button", "Submit and next"),
        Screen("practice", rita, "/review/practice/", "button", "Submit and next"),
        Screen("outcome", done.holder, f"/review/seats/{done.pk}/"),
        Screen("queue", person("aud", "auditor"), f"/review/queues/{split.pk}/"),
        Screen("item", person("cat", "curator"), f"/review/items/{done.item_id}/"),
    ]


def test_every_screen_of_review_fits_is_named_and_is_reached(
    site: Site, screens: list[Screen]
) -> None:
    problems = []
    pages: dict[int, Any] = {}
    for screen in screens:
        page = pages.setdefault(screen.user.pk, None) or site.sign_in(screen.user)
        pages[screen.user.pk] = page
        page.goto(screen.path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            for found in (TOO_WIDE, ASIDE_ACTS):
                problems += [f"{screen.name} at {width}: {node}" for node in page.evaluate(found)]
        if (headings := page.locator("h1").count()) != 1:
            problems.append(f"{screen.name} has {headings} h1")
        for found in (UNLABELLED, UNNAMED_GROUPS, LOOSE_RADIOS):
            problems += [f"{screen.name}: {node}" for node in page.evaluate(found)]
        ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(node => node.id)")
        problems += [
            f"{screen.name}: id {twice} twice" for twice in {i for i in ids if ids.count(i) > 1}
        ]
        page.emulate_media(color_scheme="dark")
        ground, ink = page.evaluate(COLOURS)
        if not ground < 0.15 < 0.85 < ink:
            problems.append(f"{screen.name} is not dark")
        page.emulate_media(color_scheme="light")
    assert problems == []


def test_the_main_action_of_each_screen_is_reached_by_the_tab_key_at_200_percent(
    site: Site, screens: list[Screen]
) -> None:
    for screen in screens:
        if screen.action:
            page = site.sign_in(screen.user, viewport={"width": 720, "height": 450})
            page.goto(screen.path)
            tab_to(page, screen.action, role=screen.role, most=200)
            assert has_ring(page), screen.name
            shown = page.evaluate(
                "() => { const box = document.activeElement.getBoundingClientRect();"
                " return box.top >= 0 && box.bottom <= innerHeight; }"
            )
            assert shown, screen.name


def test_an_item_that_was_decided_is_read_by_its_reviewers(site: Site) -> None:
    queue = build.waiting(1)
    rita = reviewer("rita")
    seat = claimed(queue, rita)
    done = deciding.submit(seat, user=rita, verdicts=verdicts(seat.item), comment="all fine")
    assert done.final_at is not None
    assert deciding.finalise(seat.pk, at=done.final_at)
    page = site.sign_in(rita, f"/review/seats/{seat.pk}/")
    page.get_by_text("It counts.").wait_for()
    page.get_by_text("Your comment: all fine").wait_for()
