"""What stays sealed until a reviewer's own verdict counts, and after."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from academy.models import Exposure
from adjudication import deciding
from adjudication.models import Queue, Seat
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db
JUDGE = "Example-Judge-7"
JUDGED = "the judge saw no list in step 2"


@pytest.fixture
def judged_seat(anna: Any) -> Seat:
    version = build.rubric_version(1, notes=False)
    assert not version.sealed
    line = build.make.judged("q-0", False, False, judge=JUDGE)
    for decision in line["decisions"]:
        decision["reason"] = JUDGED
    build.rubric_run(version, line)
    return build.claimed(build.queue_of(version), anna)


def pages_with(client: Client, seat: Seat) -> list[str]:
    """Every page and part a reviewer can open about a seat, and what its form sends back."""
    url = reverse("adjudication:seat", args=[seat.pk])
    record = reverse("academy:record", args=[seat.item.record_id])
    htmx = {"headers": {"HX-Request": "true", "HX-Target": "steps"}}
    answers = [
        client.get(url),
        client.get(url, **htmx),  # type: ignore[arg-type]
        client.get(f"{url}?from=0", **htmx),  # type: ignore[arg-type]
        client.post(f"{url}submit/", {}),
        client.post(f"{url}draft/", {}, **htmx),  # type: ignore[arg-type]
        client.get(reverse("adjudication:queues")),
        client.get(record),
        client.get(f"{record}raw/"),
        client.get(reverse("academy:run", args=[seat.item.record.run_id])),
    ]
    return [answer.content.decode() for answer in answers]


def test_what_a_judge_said_is_sealed_until_the_own_verdict_counts(
    client: Client, judged_seat: Seat, anna: Any
) -> None:
    client.force_login(anna)
    for page in pages_with(client, judged_seat):
        assert JUDGE not in page
        assert JUDGED not in page
    said = build.verdicts(judged_seat.item, True, False)
    final_at = deciding.submit(judged_seat, user=anna, verdicts=said).final_at
    for page in pages_with(client, judged_seat):
        assert JUDGE not in page
        assert JUDGED not in page
    deciding.finalise(judged_seat.pk, at=final_at)
    build.do_work()
    page = client.get(reverse("adjudication:seat", args=[judged_seat.pk])).content.decode()
    assert JUDGE in page
    assert JUDGED in page
    assert page.count('<tr class="sel">') == 1
    record = client.get(reverse("academy:record", args=[judged_seat.item.record_id]))
    assert JUDGED in record.content.decode()


def test_another_reviewer_does_not_see_the_judge_while_the_item_waits(
    client: Client, judged_seat: Seat
) -> None:
    client.force_login(build.reviewer())
    record = reverse("academy:record", args=[judged_seat.item.record_id])
    assert JUDGED not in client.get(record).content.decode()
    assert client.get(f"{record}raw/").status_code == 404


# Without its first word, which is the name of the entrant and masked.
NOTE = "note for graders."


def test_sealed_notes_are_shown_to_the_holder_and_each_sight_is_noted_once(
    client: Client, seat: Seat, anna: Any
) -> None:
    client.force_login(anna)
    url = reverse("adjudication:seat", args=[seat.pk])
    assert not Exposure.objects.exists()
    assert NOTE in client.get(url).content.decode()
    client.get(url)
    exposure = Exposure.objects.get()
    assert (exposure.user, exposure.task) == (anna, seat.item.record.task)
    assert exposure.why == f"seat:{seat.pk}"
    assert exposure.what


def test_sealed_notes_are_gone_when_the_seat_is(
    client: Client, queue: Queue, seat: Seat, anna: Any
) -> None:
    client.force_login(anna)
    url = reverse("adjudication:seat", args=[seat.pk])
    build.age(seat, minutes=1)
    build.claimed(queue, build.reviewer())
    words = build.posted(seat.item)
    for answer in (
        client.get(url),
        client.get(url, headers={"HX-Request": "true", "HX-Target": "steps"}),
        client.get(f"{url}?from=0", headers={"HX-Request": "true", "HX-Target": "steps"}),
        client.post(f"{url}draft/", words),
        client.post(f"{url}submit/", {}),
        client.post(f"{url}submit/", {}, headers={"HX-Request": "true", "HX-Target": "steps"}),
    ):
        assert NOTE not in answer.content.decode()
    assert not Exposure.objects.exists()


def test_sealed_notes_are_gone_after_the_submission(client: Client, seat: Seat, anna: Any) -> None:
    client.force_login(anna)
    build.decide(seat, anna)
    url = reverse("adjudication:seat", args=[seat.pk])
    assert NOTE not in client.get(url).content.decode()
    assert (
        NOTE
        not in client.get(
            url, headers={"HX-Request": "true", "HX-Target": "steps"}
        ).content.decode()
    )
