"""Routing is asked row by row, and each verdict keeps the revision of its table."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from academy.models import Decision
from adjudication import assigning, deciding
from adjudication.models import Draft, Seat
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import example_suites as examples
from tests.adjudication.pages.reading import signed_in, url_of

pytestmark = pytest.mark.django_db


def routing_seat(user: Any, *, of_run: bool) -> Seat:
    """The seat at the routing of the task, or at that of the run."""
    version = make.version_of(
        make.import_files(examples.routed_suite(), rename=("routed", "1"), publish=True)
    )
    make.record_files(examples.routed_run("routed@1", 1), version)
    build.do_work()
    assigning.fill_queue(version)
    build.do_work()
    queue = version.queues.get(kind="routing")
    return build.claimed(queue, user, prefer=queue.items.get(record__isnull=not of_run).pk)


def answers_of(seat: Seat) -> dict[str, str]:
    """A form with a fitting answer for every row."""
    form = {"revision": "0", "v-overall": "holds", "r-overall": "read"}
    for asked in deciding.questions_of(seat.item):
        if asked.scale == "fit":
            form[f"v-{asked.field}"] = asked.choices[0].code
    return form


@pytest.mark.parametrize("of_run", [False, True])
def test_each_routing_verdict_is_stored_with_the_revision_of_its_table(
    client: Client, of_run: bool
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = routing_seat(anna, of_run=of_run)
    asked = deciding.questions_of(seat.item)
    assert len(asked) == examples.ROWS + 2
    listed = [question.section for question in asked]
    named = (2, 1) if of_run else (3, 2)
    assert (listed.count("selected"), listed.count("skipped")) == named
    client.post(url_of(seat, "submit"), answers_of(seat))
    seat.refresh_from_db()
    assert seat.final_at is not None
    assert deciding.finalise(seat.pk, at=seat.final_at)
    rows = Decision.objects.filter(source="person")
    assert {row.kind for row in rows} == {"record" if of_run else "task"}
    assert len(rows) == examples.ROWS + 2
    whole = rows.get(part="routing")
    assert whole.value["verdict"] == "holds"
    table = whole.value["table_revision"]
    assert {given["table"] for given in seat.verdicts.values()} == {table}
    assert {row.criterion.extra["table_revision"] for row in rows if row.criterion} == {table}
    assert rows.filter(part="routing:plumbing").exists() == of_run


def test_rows_that_are_named_are_asked_otherwise_than_rows_that_are_not(client: Client) -> None:
    anna = build.reviewer("anna")
    by_key = {q.key: q for q in deciding.questions_of(routing_seat(anna, of_run=False).item)}
    labels = {
        key: [choice.label for choice in by_key[key].choices]
        for key in ("routing:qa-methodology", "routing:product-discovery", "routing:overall")
    }
    assert labels == {
        "routing:qa-methodology": ["Fits", "Does not fit", "Cannot tell", "Not in the table"],
        "routing:product-discovery": ["Rightly left out", "Wrongly left out", "Cannot tell"],
        "routing:overall": ["Routing holds", "Routing is wrong", "Cannot tell"],
    }


def test_the_button_for_silent_rows_leaves_what_was_answered(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = routing_seat(anna, of_run=False)
    wrong = next(q for q in deciding.questions_of(seat.item) if q.section == "unnamed")
    sent = {"revision": "0", f"v-{wrong.field}": "wrongly-left-out"}
    client.post(url_of(seat, "draft"), {**sent, "mark": "unnamed:rightly-left-out"})
    content = Draft.objects.get().content
    values = [given.get("value") for given in content.values()]
    assert content[wrong.key]["value"] == "wrongly left out"
    assert values.count("rightly left out") == examples.ROWS - 4 - 1
    strange = client.post(url_of(seat, "draft"), {"revision": "1", "mark": "unnamed:fits"})
    assert strange.status_code == 302
    assert not any(given.get("value") for given in Draft.objects.get().content.values())
