"""A reviewer at work: by keyboard, without scripts, in two windows, and with the line cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from academy.models import Decision
from adjudication.models import Draft, Seat
from tests.adjudication.builders import reviewer
from tests.e2e import builders as build
from tests.e2e.conftest import PATIENCE_MS, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def patience() -> None:
    expect.set_options(timeout=PATIENCE_MS)


def walk_to_record(page: Page, queue: Any) -> None:
    """From the start to the record that waits, as the README says."""
    page.get_by_role("link", name=build.board_of(queue).title).first.click()
    expect(page.locator("h1")).to_have_text(build.board_of(queue).title)
    page.get_by_role("link", name="Grey Heron").first.click()
    expect(page.locator("h1")).to_contain_text("Grey Heron")
    page.get_by_role("link", name="q-0").first.click()
    expect(page.locator("h1")).to_have_text("q-0")
    expect(page.get_by_text("waits for a person").first).to_be_visible()


def wait_for(page: Page, path: str, text: str, *, within: str = "main") -> None:
    """Load a page until it says something; what it shows follows by itself."""
    for _time in range(60):
        page.goto(path)
        said = page.locator(within).first.inner_text()
        if text in said:
            return
        page.wait_for_timeout(250)
    raise AssertionError(f"{text!r} did not come: {said}")


def expect_on_board(page: Page, queue: Any, text: str) -> None:
    """Wait until the board says something of the entrant."""
    slug = build.board_of(queue).slug
    wait_for(page, f"/boards/{slug}/", text, within="tr:has-text('Grey Heron')")


def tab_to(page: Page, name: str, *, role: str = "button", most: int = 60) -> None:
    """Go to a control by the tab key alone."""
    target = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
    for _press in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("node => node === document.activeElement"):
            return
    raise AssertionError(f"{name} is not reached by {most} presses of Tab")


def claim(page: Page) -> None:
    """Take the next item of the only queue."""
    page.get_by_role("button", name=re.compile("Next item|Resume")).first.click()
    expect(page.locator("#verdict")).to_be_visible()


def test_a_reviewer_decides_by_keyboard_alone_and_the_board_changes(
    site: Site, start_worker: Callable[[], None]
) -> None:
    queue = build.waiting(2, undo_seconds=1)
    start_worker()
    build.reviewer("rita")
    page = site.visit("/")
    walk_to_record(page, queue)
    page.goto("/login/?next=/review/")
    page.keyboard.type("rita")
    page.keyboard.press("Tab")
    page.keyboard.type(build.make.PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Your queues")
    tab_to(page, "Next item")
    page.keyboard.press("Enter")

    expect(page.locator("#item")).to_have_text("q-0")
    expect(page.locator("#item")).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator(".crit.on legend")).to_contain_text("Step 2")
    page.keyboard.press("2")
    expect(page.locator(".crit.on textarea")).to_be_focused()
    page.keyboard.type("Step 4 shows another sum, 123.")
    expect(page.locator("#answered")).to_have_text("2")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#item")).to_have_text("q-1")
    expect(page.locator("#item")).to_be_focused()
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_have_text("Your queues")
    expect(page.get_by_text("Nothing is left in this queue.")).to_be_visible()
    for seat in Seat.objects.filter(item__queue=queue).order_by("pk"):
        wait_for(page, f"/review/seats/{seat.pk}/", "It counts.")
    expect_on_board(page, queue, "50.0 %")
    decisions = Decision.objects.filter(source="person").order_by("record_id", "criterion__ordinal")
    assert [(row.value, row.reason) for row in decisions] == [
        (True, ""),
        (False, "Step 4 shows another sum, 123."),
        (True, ""),
        (True, ""),
    ]


def test_the_same_walk_works_without_scripts(site: Site, start_worker: Callable[[], None]) -> None:
    site.expected += ["status of 422"]
    queue = build.waiting(1, undo_seconds=1)
    start_worker()
    build.reviewer("rita")
    page = site.visit("/", java_script_enabled=False)
    walk_to_record(page, queue)
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("User name").fill("rita")
    page.get_by_label("Password").fill(build.make.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Review").click()
    page.get_by_role("button", name="Next item").click()
    crits = page.locator(".crit")
    crits.nth(0).get_by_role("radio", name="Met", exact=True).check()
    crits.nth(1).get_by_role("radio", name="Not met").check()
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_text("Give a reason for anything but “met”.")).to_be_visible()
    expect(crits.nth(1).get_by_role("radio", name="Not met")).to_be_checked()
    crits.nth(1).get_by_label("Reason").fill("Another sum.")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    expect(crits.nth(1).get_by_label("Reason")).to_have_value("Another sum.")
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_text("Nothing is left in this queue.")).to_be_visible()
    wait_for(page, f"/review/seats/{Seat.objects.get().pk}/", "It counts.")
    expect_on_board(page, queue, "0.0 %")


def test_two_reviewers_at_once_get_different_items(site: Site) -> None:
    build.waiting(2)
    pages = [site.sign_in(reviewer(name)) for name in ("rita", "ruth")]
    for page in pages:
        page.get_by_role("button", name="Next item").click(no_wait_after=True)
    for page in pages:
        expect(page.locator("#verdict")).to_be_visible()
    assert sorted(page.locator("#item").inner_text() for page in pages) == ["q-0", "q-1"]
    third = site.sign_in(reviewer("rosa"))
    third.get_by_role("button", name="Next item").click()
    told = r"2 items are held by others; the next is free at \d\d:\d\d UTC\."
    expect(third.get_by_text(re.compile(told))).to_be_visible()


def test_nothing_older_than_two_seconds_is_lost_when_the_page_is_killed(site: Site) -> None:
    build.waiting(1)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.keyboard.press("2")
    # Never a pause that a save could wait for.
    typed = "the sum does not count the ride of the third of March because "
    page.keyboard.type(typed, delay=60)
    page.keyboard.type("of these late words", delay=10)
    page.close(run_before_unload=False)

    elsewhere = site.sign_in(Seat.objects.get().holder)
    elsewhere.goto(f"/review/seats/{Seat.objects.get().pk}/")
    kept = elsewhere.locator(".crit textarea").first.input_value()
    two_seconds = 2_000 // 60
    assert typed[:-two_seconds] == kept[: len(typed) - two_seconds]
    again = site.contexts[0].new_page()
    site.listen(again)
    again.goto(f"/review/seats/{Seat.objects.get().pk}/")
    use = again.get_by_role("button", name="Use them")
    if use.is_visible():
        use.click()
    expect(again.locator(".crit textarea").first).to_have_value(typed + "of these late words")


def test_words_typed_while_the_line_is_cut_come_back(site: Site) -> None:
    site.expected += ["ERR_INTERNET_DISCONNECTED", "htmx:afterRequest", "htmx:sendError"]
    build.waiting(1)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.context.set_offline(True)
    page.keyboard.press("2")
    page.keyboard.type("typed in a tunnel")
    expect(page.locator("#problem")).to_contain_text("Nothing you typed is lost")
    page.context.set_offline(False)
    page.reload()
    expect(page.locator(".crit textarea").first).to_have_value("typed in a tunnel")
    expect(page.locator("#saved")).to_contain_text("saved")
    assert Draft.objects.get().content["R1"]["reason"] == "typed in a tunnel"


def test_a_window_that_was_overtaken_is_told_and_overwrites_nothing(site: Site) -> None:
    site.expected += ["status of 409", "Response Status Error Code 409"]
    build.waiting(1)
    first = site.sign_in(reviewer("rita"))
    claim(first)
    second = site.contexts[0].new_page()
    site.listen(second)
    second.goto(first.url)
    second.keyboard.press("2")
    second.keyboard.type("newer")
    expect(second.locator("#saved")).to_contain_text("saved")
    first.keyboard.press("1")
    expect(first.locator("#saved")).to_contain_text("A newer draft")
    expect(first.locator("#saved")).to_contain_text("Nothing was overwritten")
    draft = Draft.objects.get()
    assert (draft.content["R1"]["value"], draft.content["R1"]["reason"]) == (False, "newer")


def test_a_page_whose_session_ended_says_so_and_keeps_the_words(site: Site) -> None:
    site.expected += ["status of 403", "Response Status Error Code 403"]
    build.waiting(1)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.context.clear_cookies()
    page.keyboard.press("2")
    page.keyboard.type("still here")
    expect(page.locator("#problem")).to_contain_text("You are signed out.")
    expect(page.locator(".crit.on textarea")).to_have_value("still here")


def test_keys_quote_cite_and_undo(site: Site) -> None:
    site.expected += ["status of 422", "Response Status Error Code 422"]
    build.waiting(2)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.keyboard.press("n")
    expect(page.locator("#item")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".crit.on legend")).to_contain_text("Step 2")
    page.keyboard.press("k")
    expect(page.locator(".crit.on legend")).to_contain_text("Step 1")
    # A reason shows only where one is, wrote, or lacks something.
    expect(page.locator(".crit .why:visible")).to_have_count(1)

    page.evaluate("getSelection().selectAllChildren(document.querySelector('#s2 .md'))")
    page.keyboard.press("q")
    quote = "> step 2: “I keep every ride to Slough Avenue.”\n"
    expect(page.locator(".crit.on textarea")).to_have_value(quote)
    expect(page.locator("#say")).to_have_text("Quoted from step 2.")
    expect(page.locator("#s2")).to_contain_text("cited by criterion 1")
    page.keyboard.press("n")
    expect(page.locator("#s2")).to_be_focused()

    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keyboard")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(page.locator("#answered")).to_have_text("0")
    page.keyboard.press("g")
    expect(page.get_by_text("Judge only the criterion.")).to_be_visible()

    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Not submitted yet.")).to_be_visible()
    expect(page.locator("#saved")).to_contain_text("saved")
    expect(page.locator(".crit.on legend")).to_contain_text("Step 1")
    expect(page.locator(".crit").first.locator("textarea")).to_have_value(quote)
    page.get_by_label("Auto-advance").uncheck()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("1")
    expect(page.locator(".crit.on legend")).to_contain_text("Step 1")
    page.keyboard.press("j")
    page.keyboard.press("3")
    page.keyboard.type("j k 1 u are letters here")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#item")).to_have_text("q-1")
    expect(page.locator("#undo")).to_contain_text("q-0 submitted")
    expect(page.locator("#undo [data-left]")).to_have_text(re.compile(r"^\d+ s$"))
    page.keyboard.press("u")
    expect(page.locator("#item")).to_have_text("q-0")
    expect(page.locator(".crit").first.get_by_role("radio", name="Met").first).to_be_focused()
    expect(page.locator(".crit textarea").nth(1)).to_have_value("j k 1 u are letters here")
    assert Seat.objects.get(state="held").item.record.task.external_id == "q-0"
    assert not Decision.objects.exists()


def test_the_mouse_hits_what_it_presses_although_the_form_moves(site: Site) -> None:
    build.waiting(1, criteria=3)
    # High enough to show the third criterion in any font: the mouse does not scroll.
    page = site.sign_in(reviewer("rita"), viewport={"width": 1280, "height": 1200})
    claim(page)
    third = page.locator(".crit").nth(2)
    box = third.get_by_text("Not met").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.wait_for_timeout(50)
    page.mouse.up()
    expect(third.get_by_role("radio", name="Not met")).to_be_checked()
    expect(third.locator("textarea")).to_be_visible()
    expect(page.locator(".crit .why:visible")).to_have_count(1)


def test_release_and_skip_work_with_scripts(site: Site) -> None:
    build.waiting(2)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.keyboard.press("2")
    page.keyboard.type("typed just now")
    page.get_by_role("button", name="Release").click()
    expect(page.get_by_text("Released. Your draft is kept")).to_be_visible()
    assert Draft.objects.get().content["R1"]["reason"] == "typed just now"
    claim(page)
    expect(page.locator(".crit textarea").first).to_have_value("typed just now")
    page.get_by_text("Skip…").click()
    page.get_by_label("Not my field").check()
    page.get_by_role("button", name="Skip item").click()
    expect(page.locator("#item")).to_have_text("q-1")
