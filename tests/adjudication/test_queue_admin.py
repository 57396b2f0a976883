"""Curators make and steer queues in the admin, and every change is noted; nobody else does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from academy.models import AuditEvent
from adjudication import claiming, golding
from adjudication.admin_forms import QueueForm
from adjudication.models import Gold, Queue, ReviewItem
from adjudication.policies import read_policy
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db
QUEUES = "/admin/adjudication/queue/"


def signed_in(*roles: str) -> Client:
    client = Client()
    client.force_login(build.person("-".join(roles), *roles, is_staff=True))
    return client


@pytest.fixture
def curator() -> Client:
    return signed_in("curator")


def sent(queue: Queue, **changes: Any) -> dict[str, Any]:
    """The change form of a queue as a browser would send it."""
    form = QueueForm(instance=queue)
    held = {name: form.get_initial_for_field(form.fields[name], name) for name in form.fields}
    said = {**held, **changes}
    due = said.pop("due_at", None)
    return {
        "due_at_0": due[0] if due else "",
        "due_at_1": due[1] if due else "",
        "guidelines-TOTAL_FORMS": 0,
        "guidelines-INITIAL_FORMS": 0,
        **{
            name: "on" if value is True else value
            for name, value in said.items()
            if value is not None and value is not False
        },
    }


def errors_of(response: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = response.context["adminform"].form.errors.get_json_data()
    return {name: [str(one["message"]) for one in rows] for name, rows in found.items()}  # type: ignore[index]


def test_a_queue_is_made_from_a_preset_and_filled(curator: Client) -> None:
    version = build.rubric_version(2)
    build.rubric_run(version)
    build.do_work()
    version.queues.all().delete()
    page = curator.get(f"{QUEUES}add/").content.decode()
    for told in ("One reviewer", "Two and a third", "Audit of the judge", "10 % of each"):
        assert told in page
    given = {
        "version": version.pk, "kind": "criteria", "preset": "two-and-third", "title": "",
        "due_at_0": "2026-12-24", "due_at_1": "12:00:00",
    }  # fmt: skip
    response = curator.post(f"{QUEUES}add/", given)
    assert response.status_code == 302, errors_of(response)
    queue = version.queues.get()
    assert (queue.seats_per_item, queue.due_at is not None) == (2, True)
    assert AuditEvent.objects.get(act="review.queue", subject=f"queue:{queue.pk}").actor
    build.do_work()
    assert queue.items.count() == 2
    again = curator.post(f"{QUEUES}add/", given)
    assert errors_of(again) == {"kind": [f"{version} has a queue of this kind already."]}


def test_every_rule_is_a_field_and_a_change_is_noted(curator: Client) -> None:
    queue = build.waiting_queue(2)
    anna = build.reviewer("anna")
    changed = sent(
        queue, title="Tea room", seats_per_item=2, is_paused=True, share=0.2, minimum=5,
        seed="spring/1", differing=True, order="agreement", suggestion="open", gold_every=12,
        second_seat=True, reviewers="anna", appeals_by="readers", lease_seconds=900,
        guideline="Look at the last screen.",
    )  # fmt: skip
    response = curator.post(f"{QUEUES}{queue.pk}/change/", changed)
    assert response.status_code == 302, errors_of(response)
    queue.refresh_from_db()
    policy = read_policy(queue.policy)
    assert (queue.title, queue.seats_per_item, queue.is_paused) == ("Tea room", 2, True)
    assert (policy.sampling.share, policy.sampling.minimum, policy.sampling.seed) == (
        0.2, 5, "spring/1",
    )  # fmt: skip
    assert (policy.order, policy.suggestion, policy.gold_every) == ("agreement", "open", 12)
    assert (policy.second_seat, policy.reviewers, policy.appeals_by) == (
        True, ("anna",), "readers",
    )  # fmt: skip
    assert [item.seats.count() for item in queue.items.all()] == [2, 2]
    assert [(one.revision, one.text) for one in queue.guidelines.all()] == [
        (1, "Look at the last screen.")
    ]
    noted = AuditEvent.objects.get(act="review.queue_change", subject=f"queue:{queue.pk}")
    assert noted.details["is_paused"] is True and noted.details["seats_per_item"] == 2
    assert not isinstance(claiming.claim_next(queue, user=anna), type(queue))
    assert build.refused(queue, anna).sentence == "This queue is paused."
    curator.post(f"{QUEUES}{queue.pk}/change/", sent(queue))
    assert AuditEvent.objects.filter(act="review.queue_change").count() == 1
    assert queue.guidelines.count() == 1


def test_a_guideline_is_revised_and_never_taken_away(curator: Client) -> None:
    queue = build.waiting_queue(1)
    for text in ("First.", "Second."):
        curator.post(f"{QUEUES}{queue.pk}/change/", sent(queue, guideline=text))
    assert list(queue.guidelines.order_by("revision").values_list("revision", "text")) == [
        (1, "First."), (2, "Second."),
    ]  # fmt: skip
    response = curator.post(f"{QUEUES}{queue.pk}/change/", sent(queue, guideline=""))
    assert errors_of(response) == {"guideline": ["A guideline is revised, not taken away."]}
    page = curator.get(f"{QUEUES}{queue.pk}/change/").content.decode()
    assert "First." in page and "Second." in page


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("share", "1.5", "less than or equal to 1"),
        ("minimum", "-1", "greater than or equal to 0"),
        ("seed", "a b", "valid value"),
        ("seats_per_item", "4", "less than or equal to 3"),
        ("lease_seconds", "5", "greater than or equal to 60"),
        ("order", "loudest", "not one of the available choices"),
        ("reviewers", "nobody-of-this-name", "There is no account nobody-of-this-name."),
        ("title", "", "This field is required."),
    ],
)
def test_a_wrong_rule_is_told_at_its_field_and_changes_nothing(
    curator: Client, field: str, value: str, told: str
) -> None:
    queue = build.waiting_queue(1)
    before = Queue.objects.filter(pk=queue.pk).values().get()
    response = curator.post(f"{QUEUES}{queue.pk}/change/", {**sent(queue), field: value})
    found = errors_of(response)
    assert list(found) == [field]
    assert told in found[field][0]
    assert Queue.objects.filter(pk=queue.pk).values().get() == before


def test_gold_is_added_by_record_and_right_verdicts(curator: Client) -> None:
    queue = build.waiting_queue(2)
    record = build.records_of(queue)[0]
    address = f"{QUEUES}{queue.pk}/gold/"
    assert curator.get(address).status_code == 200
    wrong = curator.get(f"{address}?record=5")
    assert wrong.status_code == 422
    assert "There is no record 5 of" in wrong.content.decode()
    page = curator.get(f"{address}?record={record.pk}").content.decode()
    fields = re.findall(r'<select[^>]*name="(q\d+)"', page)
    assert len(fields) == 2
    missing = curator.post(f"{address}?record={record.pk}", {fields[0]: "yes"})
    assert missing.status_code == 422
    assert not Gold.objects.exists()
    done = curator.post(f"{address}?record={record.pk}", {fields[0]: "yes", fields[1]: "no"})
    assert done.status_code == 302
    gold = Gold.objects.get()
    assert [given["value"] for given in gold.verdicts.values()] == [True, False]
    assert (gold.item.state, gold.item.record_id) == ("gold", record.pk)
    assert AuditEvent.objects.filter(act="review.gold", actor__isnull=False).count() == 1


def test_a_resolved_item_becomes_gold_in_one_step(curator: Client) -> None:
    queue = build.waiting_queue(2)
    anna = build.reviewer()
    build.decide(build.claimed(queue, anna), anna, True, False)
    ids = list(queue.items.order_by("pk").values_list("pk", flat=True))
    page = curator.post(
        "/admin/adjudication/reviewitem/",
        {"action": "make_gold", "_selected_action": ids},
        follow=True,
    ).content.decode()
    assert f"The record of item {ids[0]} is gold now." in page
    assert f"Item {ids[1]}: Only a resolved item" in page
    assert [given["value"] for given in Gold.objects.get().verdicts.values()] == [True, False]
    assert ReviewItem.objects.get(pk=ids[0]).state == "resolved"


def test_gold_is_retired_on_its_page_and_in_the_list_of_items(curator: Client) -> None:
    queue = build.waiting_queue(2)
    items = [
        golding.add_gold(
            queue,
            record,
            build.verdicts(queue.items.order_by("pk").first(), True, False, reason=""),  # type: ignore[arg-type]
            by=build.person("", "curator"),
        )
        for record in build.records_of(queue)
    ]
    address = f"{QUEUES}{queue.pk}/gold/"
    assert curator.get(address).content.decode().count(">Retire</button>") == 2
    empty = curator.post(f"{address}{items[0].pk}/retire/", {"reason": " "})
    assert empty.status_code == 422
    assert "Say why the gold item is retired." in empty.content.decode()
    assert curator.get(f"{address}{items[0].pk}/retire/").status_code == 405
    sent = curator.post(f"{address}{items[0].pk}/retire/", {"reason": "misread"}, follow=True)
    page = sent.content.decode()
    assert page.count(">Retire</button>") == 1
    assert re.search(r"Retired .* by curator: misread", page)
    shown = curator.get(f"/review/items/{items[0].pk}/").content.decode()
    assert re.search(r"Retired .* by curator: misread", shown)
    listed = curator.post(
        "/admin/adjudication/reviewitem/",
        {
            "action": "retire_gold",
            "_selected_action": [item.pk for item in items],
            "reason": "of another edition",
        },
        follow=True,
    ).content.decode()
    assert f"Item {items[0].pk}: Item {items[0].pk} is retired already: misread" in listed
    assert f"Item {items[1].pk} is retired as gold." in listed


def test_a_curator_takes_a_seat_back_in_the_admin(curator: Client) -> None:
    queue = build.waiting_queue(1)
    seat = build.claimed(queue, build.reviewer())
    page = curator.post(
        "/admin/adjudication/seat/",
        {"action": "take_back", "_selected_action": [seat.pk]},
        follow=True,
    ).content.decode()
    assert "1 seat free again." in page
    seat.refresh_from_db()
    assert (seat.state, seat.holder) == ("free", None)
    assert AuditEvent.objects.get(act="review.reassign").details["seat"] == seat.pk


@pytest.mark.parametrize("role", ["reviewer", "adjudicator", "auditor", "entrant"])
def test_nobody_else_steers_a_queue(role: str) -> None:
    queue = build.waiting_queue(1)
    record = build.records_of(queue)[0]
    client = signed_in(role)
    for address in (
        QUEUES, f"{QUEUES}add/", f"{QUEUES}{queue.pk}/change/", f"{QUEUES}{queue.pk}/gold/",
        f"{QUEUES}{queue.pk}/gold/?record={record.pk}", "/admin/adjudication/reviewitem/",
    ):  # fmt: skip
        assert client.get(address).status_code in (302, 403, 404)
        assert client.post(address, sent(queue, title="Mine")).status_code in (302, 403, 404)
    queue.refresh_from_db()
    assert queue.title != "Mine"
    assert not Gold.objects.exists()
