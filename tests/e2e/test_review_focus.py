"""Where the keyboard is after each act on the bench, and what is told there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from adjudication import key_kind
from adjudication.models import ExtraVerdict, Seat
from tests import factories as make
from tests.adjudication import example_suites as examples
from tests.adjudication import subjects
from tests.adjudication.builders import age, claimed, do_work, reviewer
from tests.e2e import builders as build
from tests.e2e.conftest import PATIENCE_MS, Site
from tests.e2e.test_review import claim
from tests.e2e.test_review_kinds import UNNAMED, claim_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HIDDEN = """() => {
  const on = document.querySelector('[data-crit].on').getBoundingClientRect();
  return on.bottom - document.querySelector('.dock').getBoundingClientRect().top; }"""


@pytest.fixture(autouse=True)
def patience() -> None:
    expect.set_options(timeout=PATIENCE_MS)


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        page.keyboard.press(key)


def test_who_loses_the_hold_while_typing_is_told_and_hands_in_an_extra_review(site: Site) -> None:
    queue = build.waiting(1)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    press(page, "1", "2")
    page.keyboard.type("first")
    expect(page.locator("#saved")).to_contain_text("saved")
    age(Seat.objects.get(state="held"), minutes=1)
    claimed(queue, reviewer("bea"))
    page.keyboard.type(" and more")
    expect(page.get_by_role("alert").filter(has_text="Your hold")).to_be_visible()
    expect(page.locator("textarea:focus")).to_have_value("first and more")
    expect(page.get_by_role("button", name="Send as extra review")).to_be_visible()
    press(page, "Control+Enter")
    expect(page.get_by_text("Your verdict is kept as an extra review")).to_be_visible()
    assert ExtraVerdict.objects.get().verdicts["R2"]["reason"] == "first and more"


def test_the_question_where_the_keyboard_is_stays_above_the_dock(site: Site) -> None:
    build.waiting(1, criteria=4)
    page = site.sign_in(reviewer("rita"), viewport={"width": 1440, "height": 900})
    claim(page)
    press(page, "1", "1", "2")
    page.keyboard.type("No ride.")
    press(page, "Escape", "j", "1")
    expect(page.locator("#answered")).to_have_text("4")
    assert page.evaluate(HIDDEN) <= 0


def test_a_window_that_was_overtaken_puts_the_keyboard_at_what_it_says(site: Site) -> None:
    site.expected += ["status of 409", "Response Status Error Code 409"]
    build.waiting(1)
    first = site.sign_in(reviewer("rita"))
    claim(first)
    second = site.contexts[0].new_page()
    site.listen(second)
    second.goto(first.url)
    press(second, "2")
    second.keyboard.type("newer")
    expect(second.locator("#saved")).to_contain_text("saved")
    press(first, "1", "1", "Control+Enter")
    expect(first.locator("#verdict .note.warn")).to_be_focused()
    press(first, "Control+Enter")
    expect(first.locator("#undo")).to_contain_text("submitted")


def test_numbers_are_typed_and_left_by_keys_alone(site: Site) -> None:
    queue = key_kind.make_key_queue(make.sealed_version(1), raters=2, by=subjects.curator())
    do_work()
    page = site.sign_in(reviewer("rita"))
    claim_in(page, "answer keys")
    press(page, "x")
    expect(page.locator("textarea:focus")).to_have_count(1)
    press(page, "Escape", "j", "1")
    expect(page.locator("input.measure")).to_be_focused()
    page.keyboard.type("18,5")
    press(page, "Enter")
    page.keyboard.type("by the outer line")
    press(page, "Escape")
    expect(page.locator("fieldset.crit")).to_be_focused()
    press(page, "Control+Enter")
    expect(page.locator("#undo")).to_contain_text("submitted")
    seat = Seat.objects.get(item__queue=queue, state="pending")
    (given,) = seat.verdicts.values()
    assert (given["value"], given["reason"]) == (118.5, "by the outer line")


def test_rows_that_nobody_named_are_answered_by_one_key(site: Site) -> None:
    build.routed()
    page = site.sign_in(reviewer("rita"))
    claim_in(page, "routing")
    named = examples.ROWS + 1 - UNNAMED
    press(page, *["1"] * named, "m")
    expect(page.locator("#answered")).to_have_text(str(named + UNNAMED))
    expect(page.locator("[data-crit]").last).to_have_class("crit on")
    press(page, "1")
    page.keyboard.type("All of it holds.")
    press(page, "Control+Enter")
    expect(page.locator("#undo")).to_contain_text("submitted")


def test_after_the_practice_item_the_keyboard_is_at_what_came_of_it(site: Site) -> None:
    page = site.sign_in(reviewer("rita"), "/review/practice/")
    press(page, "1", "1", "1", "Control+Enter")
    expect(page.get_by_role("heading", name="You submitted the practice item")).to_be_focused()
