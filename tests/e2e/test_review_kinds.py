"""Routing, ratings, the third person and the practice item, by keyboard and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from academy.formats.neckbeard.dimensions import DIMENSIONS
from academy.models import Decision
from adjudication.models import Draft, ReviewItem, Seat, Skip
from tests.adjudication import example_suites as examples
from tests.adjudication.builders import person, reviewer
from tests.e2e import builders as build
from tests.e2e.conftest import PATIENCE_MS, Site
from tests.e2e.test_review import claim

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
UNNAMED = examples.ROWS - len(examples.SELECTED) + 1 - len(examples.SKIPPED)


@pytest.fixture(autouse=True)
def patience() -> None:
    expect.set_options(timeout=PATIENCE_MS)


def claim_in(page: Page, kind: str) -> None:
    """Take the next item of the queue of a kind."""
    row = page.get_by_role("row").filter(has_text=f", {kind}")
    row.get_by_role("button", name="Next item").click()
    expect(page.locator("#verdict")).to_be_visible()


def row_of(page: Page, skill: str) -> str:
    """The verdict chosen on a skill."""
    row = page.locator("tr[data-crit]").filter(has=page.get_by_role("rowheader", name=skill))
    return row.locator("input:checked + span").first.inner_text()


def test_routing_is_reviewed_by_keyboard_alone(site: Site) -> None:
    build.routed()
    page = site.sign_in(reviewer("rita"))
    claim_in(page, "routing")
    expect(page.get_by_role("heading", name="Routing")).to_be_visible()
    expect(page.locator("tr[data-crit]")).to_have_count(examples.ROWS + 1)
    expect(page.locator("#verdict .note.warn").first).to_contain_text("none decides")
    expect(page.locator("#phases")).to_contain_text("skipped: small change")

    page.keyboard.press("1")
    page.keyboard.press("2")
    expect(page.locator("tr.on textarea")).to_be_focused()
    page.keyboard.type("phase 5 is skipped")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("4")
    page.keyboard.type("no such row")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(page.locator("#answered")).to_have_text("5")
    page.keyboard.press("2")
    page.keyboard.type("it touches the server")
    page.get_by_role("button", name=f"Mark all {UNNAMED} rightly silent").press("Enter")
    expect(page.locator("#answered")).to_have_text(str(5 + UNNAMED))
    expect(page.locator("#say")).to_contain_text(f"{UNNAMED - 1} marked")
    page.get_by_role("radio", name="Routing is wrong").check()
    page.get_by_label("Reason").last.fill("One row is missing.")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#undo")).to_contain_text("submitted")
    said = Seat.objects.get(state="pending").verdicts
    assert said["routing:technical-documentation"]["value"] == "fits"
    assert said["routing:qa-methodology"]["value"] == "does not fit"
    assert said["routing:unlisted-1"]["value"] == "not in the table"
    values = [given["value"] for given in said.values()]
    assert values.count("rightly left out") == UNNAMED - 1
    assert values.count("wrongly left out") == 1
    assert said["routing:overall"]["value"] == "wrong"
    assert len({given["table"] for given in said.values()}) == 1


def test_the_button_that_marks_all_works_without_scripts(site: Site) -> None:
    build.routed()
    page = site.sign_in(reviewer("rita"), java_script_enabled=False)
    claim_in(page, "routing")
    page.get_by_role("button", name=f"Mark all {UNNAMED} rightly silent").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert row_of(page, "product-discovery") == "Rightly left out"
    kept = [given["value"] for given in Draft.objects.get().content.values() if "value" in given]
    assert kept.count("rightly left out") == UNNAMED


def test_ratings_take_keys_from_0_to_3_and_ask_for_a_reason_each(site: Site) -> None:
    site.expected += ["status of 422", "Response Status Error Code 422"]
    build.rated()
    page = site.sign_in(reviewer("rita"))
    claim_in(page, "ratings")
    expect(page.get_by_text("there is no composite")).to_be_visible()
    crits = page.locator(".crit")
    expect(crits).to_have_count(8)
    expect(page.locator("#sealed")).to_contain_text(examples.TRUTH)
    for number in range(8):
        expect(crits.nth(number)).to_have_class(re.compile(r"\bon\b"))
        if number == 5:
            expect(crits.nth(number).get_by_text(examples.NOTE)).to_be_visible()
        # N/A is a key on one dimension only.
        page.keyboard.press("x")
        if number != 2:
            expect(crits.nth(number).locator("input:checked")).to_have_count(0)
            page.keyboard.press(str(number % 4))
        expect(crits.nth(number).locator("textarea")).to_be_focused()
        if number < 7:
            page.keyboard.type(f"because of {number}")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Not submitted yet.")).to_be_visible()
    expect(crits.nth(7)).to_contain_text("Give a reason.")
    expect(crits.nth(7).locator("textarea")).to_be_focused()
    page.keyboard.type("because of 7")
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_have_text("Your queues")
    said = Seat.objects.get(state="pending").verdicts
    assert [said[one.key]["value"] for one in DIMENSIONS] == [0, 1, None, 3, 0, 1, 2, 3]
    assert said["security_accessibility"]["state"] == "na"


def test_a_third_person_decides_by_keyboard_and_sees_names_afterwards(site: Site) -> None:
    site.expected += ["status of 422", "Response Status Error Code 422"]
    build.split()
    page = site.sign_in(person("otto", "adjudicator"))
    page.get_by_role("button", name="Decide next").click()
    expect(page.locator("h1")).to_have_text("2 reviews differ on 2 of 3")
    assert "ada looked" in page.content()
    assert ">ada<" not in page.content()
    page.keyboard.press("b")
    expect(page.locator("[data-crit].on textarea")).to_be_focused()
    page.keyboard.type("B is right about the sum.")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("1")
    expect(page.locator("#answered")).to_have_text("2")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Not decided yet.")).to_be_visible()
    page.keyboard.type("Step 2 shows it.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#undo")).to_contain_text("q-0 submitted")
    seat = Seat.objects.get(role="third")
    assert [(key, given["value"]) for key, given in seat.verdicts.items()] == [
        ("R2", False),
        ("R3", True),
    ]
    page.goto(f"/review/seats/{seat.pk}/")
    expect(page.get_by_text("until then names stay sealed.")).to_be_visible()
    assert seat.final_at is not None
    assert build.build.deciding.finalise(seat.pk, at=seat.final_at)
    page.reload()
    expect(page.get_by_role("heading", name="ada")).to_be_visible()
    assert Decision.objects.filter(source="resolution").count() == 2


def test_a_third_person_works_without_scripts_and_may_reopen(site: Site) -> None:
    build.split()
    page = site.sign_in(person("otto", "adjudicator"), java_script_enabled=False)
    page.get_by_role("button", name="Decide next").click()
    page.get_by_text("Reopen…").click()
    decisions = page.locator("[data-crit]")
    expect(decisions).to_have_count(3)
    for place, answer in enumerate(("Not met", "Met", "Met")):
        decisions.nth(place).get_by_role("radio", name=answer, exact=True).check()
        decisions.nth(place).get_by_label("Reason, public").fill(f"reason {place}")
    page.get_by_role("link", name="Undecided 2").click()
    expect(page.locator("h1")).to_be_visible()
    page.go_back()
    for place, answer in enumerate(("Not met", "Met", "Met")):
        if not decisions.nth(place).is_visible():
            page.get_by_text("Reopen…").click()
        decisions.nth(place).get_by_role("radio", name=answer, exact=True).check()
        decisions.nth(place).get_by_label("Reason, public").fill(f"reason {place}")
    page.get_by_role("button", name="Decide").click()
    expect(page.locator("h1")).to_have_text("Your queues")
    assert Seat.objects.get(role="third").verdicts["R1"]["value"] is False


def test_the_keys_that_leave_an_item_only_ask(site: Site) -> None:
    build.waiting(3)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    for key, words in (("s", "Why skip?"), ("d", "Defer to the end"), ("e", "Escalate to an")):
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=words)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("heading", name=words)).not_to_be_visible()
    assert Seat.objects.get(state="held").item.record.task.external_id == "q-0"
    assert not Skip.objects.exists()
    page.keyboard.press("w")
    page.keyboard.type("s d e g u 1 are letters")
    expect(page.locator(".crit.on textarea")).to_have_value("s d e g u 1 are letters")
    page.keyboard.press("Escape")

    page.keyboard.press("d")
    page.keyboard.type("later")
    page.get_by_role("button", name="Defer item").press("Enter")
    expect(page.locator("#item")).to_have_text("q-1")
    assert Draft.objects.get(revision__gt=0).content["R1"]["reason"] == "s d e g u 1 are letters"
    page.keyboard.press("e")
    page.keyboard.type("the task itself is wrong")
    page.get_by_role("button", name="Escalate item").press("Enter")
    expect(page.locator("#item")).to_have_text("q-2")
    assert dict(Skip.objects.values_list("act", "reason")) == {
        "defer": "later",
        "escalate": "the task itself is wrong",
    }
    assert ReviewItem.objects.get(state="decided").escalated_at is not None


def test_what_gives_the_origin_away_is_reported_and_the_review_goes_on(site: Site) -> None:
    build.waiting(1)
    page = site.sign_in(reviewer("rita"))
    claim(page)
    page.keyboard.press("2")
    page.keyboard.type("half a reason")
    page.get_by_text("Not blind?").click()
    page.locator("#blind-text").fill("it signs with its name")
    page.get_by_role("button", name="Report").click()
    expect(page.get_by_text("you reported: not blind")).to_be_visible()
    expect(page.locator(".crit textarea").first).to_have_value("half a reason")
    assert Seat.objects.get().not_blind == "it signs with its name"


def test_the_practice_item_teaches_the_keys_and_stores_nothing(site: Site) -> None:
    site.expected += ["status of 422"]
    rita = reviewer("rita")
    page = site.sign_in(rita)
    before = build.make.whole_database()
    page.get_by_role("link", name="Practice item").click()
    expect(page.locator("#item")).to_have_text("Count the crates (example)")
    assert "Example Harvester" not in page.content()
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.type("no number")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Choose a verdict.")).to_be_visible()
    expect(page.locator(".crit textarea").nth(1)).to_have_value("no number")
    page.locator(".crit").nth(2).get_by_role("radio", name="Met").first.check()
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_contain_text("You submitted the practice item")
    assert build.make.changed_tables(before) == []


def test_single_keys_are_switched_off_and_on_by_mouse_and_everything_else_works(
    site: Site,
) -> None:
    site.expected += ["status of 422"]
    page = site.sign_in(reviewer("rita"), "/review/practice/")
    first = page.locator(".crit").first.get_by_role("radio", name="Met", exact=False).first
    page.get_by_role("button", name="? all").click()
    box = page.get_by_role("checkbox", name="Single keys work")
    expect(box).to_be_checked()
    box.uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()
    for key in ("1", "s", "?", "/"):
        page.keyboard.press(key)
    expect(first).not_to_be_checked()
    expect(page.locator("dialog[open], details.pop[open]")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Choose a verdict.").first).to_be_visible()
    page.goto("/review/preferences/")
    page.get_by_role("checkbox", name="Single keys work").check()
    page.goto("/review/practice/")
    page.keyboard.press("1")
    expect(first).to_be_checked()
