"""The digest: once a day and person, only when something waits, and off by one link."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from academy import work
from academy.models import Work
from academy.project.celery import app
from adjudication import digesting
from adjudication.models import Queue, ReviewPreference
from tests.adjudication import builders as build
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 3, 2, 8, tzinfo=UTC)


def person(name: str, *roles: str, digest: str = "") -> Any:
    """Somebody with an address; without a choice the digest is daily."""
    made = build.person(name, *(roles or ("reviewer",)), email=f"{name}@example.org")
    if digest:
        ReviewPreference.objects.create(user=made, digest=digest)
    return made


def sent_on(day: datetime) -> list[str]:
    """Owe and send the digests of a day; gives the addresses."""
    digesting.owe_digests(at=day)
    mail.outbox.clear()
    Work.objects.filter(kind=digesting.KIND, state="ready").update(due_at=timezone.now())
    while (unit := work.claim("tests")) is not None:
        work.perform(unit)
    return sorted(address for message in mail.outbox for address in message.to)


def test_it_tells_what_waits_what_is_held_and_by_when() -> None:
    queue = build.waiting_queue(3, title="Steps, first round")
    Queue.objects.exclude(pk=queue.pk).delete()
    Queue.objects.update(due_at=timezone.now() + timedelta(days=2))
    somebody = person("somebody")
    subjects.take(queue, somebody)
    assert sent_on(MONDAY) == ["somebody@example.org"]
    (message,) = mail.outbox
    text = str(message.body)
    assert "You hold one item of “Steps, first round”" in text
    assert "Steps, first round: 2 items, wanted by" in text
    assert "(soon)" in text
    assert "http://localhost:8000/review/preferences/" in text
    assert message.subject == "Review: 2 items can be taken"


def test_it_is_sent_once_a_day_whatever_is_asked_how_often() -> None:
    build.waiting_queue(1)
    person("somebody")
    assert sent_on(MONDAY) == ["somebody@example.org"]
    assert sent_on(MONDAY + timedelta(hours=3)) == []
    unit = Work.objects.get(kind=digesting.KIND)
    digesting.send_digest(unit.payload)()
    assert mail.outbox == []


def test_the_next_day_brings_the_next_one() -> None:
    build.waiting_queue(1)
    person("somebody")
    today = timezone.now().replace(hour=8)
    assert sent_on(today) == ["somebody@example.org"]
    ReviewPreference.objects.update(digest_sent_at=today - timedelta(days=1))
    assert sent_on(today + timedelta(days=1)) == ["somebody@example.org"]


def test_nothing_is_sent_when_nothing_waits() -> None:
    person("somebody")
    assert sent_on(MONDAY) == []
    assert not ReviewPreference.objects.exists()


def test_nothing_is_sent_about_what_somebody_may_not_take() -> None:
    queue = build.waiting_queue(1)
    rival = person("rival", "reviewer", "entrant")
    record = build.records_of(queue)[0]
    record.run.entrant.organization = rival.memberships.first().organization
    record.run.entrant.save()
    assert sent_on(MONDAY) == []


def test_weekly_comes_on_monday_and_never_comes_never() -> None:
    build.waiting_queue(1)
    person("daily")
    person("weekly", digest="weekly")
    person("off", digest="off")
    build.reviewer("no-address")
    person("curates", "curator")
    assert sent_on(MONDAY) == ["daily@example.org", "weekly@example.org"]
    ReviewPreference.objects.update(digest_sent_at=None)
    assert sent_on(MONDAY + timedelta(days=1)) == ["daily@example.org"]


def test_before_the_morning_nothing_is_owed() -> None:
    build.waiting_queue(1)
    person("somebody")
    assert digesting.owe_digests(at=MONDAY.replace(hour=5)) == 0
    assert digesting.owe_digests(at=MONDAY) == 1
    assert digesting.owe_digests(at=MONDAY) == 0


def test_adjudicators_hear_of_what_waits_for_a_third_person() -> None:
    queue = build.waiting_queue(1, seats=2)
    for value in (True, False):
        reviewer = build.reviewer()
        build.decide(subjects.take(queue, reviewer), reviewer, value)
    person("reviews")
    person("adjudicates", "adjudicator")
    assert sent_on(MONDAY) == ["adjudicates@example.org"]


def unsubscribe_path() -> str:
    """The path of the link in the last mail."""
    found = re.search(r"http://localhost:8000(/review/unsubscribe/\S+)", str(mail.outbox[-1].body))
    assert found is not None
    return found[1]


def test_the_link_switches_it_off_without_signing_in(client: Client) -> None:
    build.waiting_queue(1)
    somebody = person("somebody")
    sent_on(MONDAY)
    path = unsubscribe_path()
    asked = client.get(path)
    assert "Switch it off" in asked.content.decode()
    assert digesting.preference_of(somebody).digest == "daily"
    outside = Client(enforce_csrf_checks=True)
    done = outside.post(path, {"List-Unsubscribe": "One-Click"})
    assert "The digest is off" in done.content.decode()
    assert digesting.preference_of(somebody).digest == "off"
    assert mail.outbox[-1].extra_headers["List-Unsubscribe"].endswith(f"{path}>")
    assert sent_on(MONDAY + timedelta(days=1)) == []


def test_a_link_that_was_not_signed_here_opens_nothing(client: Client) -> None:
    somebody = person("somebody")
    token = digesting.unsubscribe_token(somebody)
    for wrong in (f"{token}x", token[:-2], str(somebody.pk), "x"):
        assert client.get(f"/review/unsubscribe/{wrong}/").status_code == 404
        assert client.post(f"/review/unsubscribe/{wrong}/").status_code == 404
    assert digesting.preference_of(somebody).digest == "daily"


def test_preferences_are_chosen_on_a_page(client: Client) -> None:
    somebody = person("somebody")
    client.force_login(somebody)
    assert "somebody@example.org" in client.get("/review/preferences/").content.decode()
    assert client.post("/review/preferences/", {"digest": "hourly"}).status_code == 422
    assert client.post("/review/preferences/", {"digest": "weekly"}).status_code == 302
    assert digesting.preference_of(somebody).digest == "weekly"
    client.force_login(build.person("reader"))
    assert client.get("/review/preferences/").status_code == 404


def test_beat_asks_for_the_digests() -> None:
    app.loader.import_default_modules()
    assert "adjudication.tasks.owe_digests" in app.tasks
    named = {row["task"] for row in app.conf.beat_schedule.values()}
    assert "adjudication.tasks.owe_digests" in named
