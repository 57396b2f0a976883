"""Answer keys that several people measure, each alone, and a third person settles."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from academy import keying, passes, registry, specs
from academy.errors import AcademyError
from academy.models import AuditEvent, Decision, Exposure, SuiteVersion
from adjudication import claiming, deciding, key_kind
from adjudication.models import Queue, ReviewItem
from adjudication.remaining import NothingFree
from adjudication.verdict_exporting import QueueVerdicts
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db
OLD = 100.0


def version_of(tasks: int = 1, *, publish: bool = True) -> SuiteVersion:
    """A sealed takeoff version whose keys say 100."""
    return make.sealed_version(tasks, publish=publish)


def queue_of(version: SuiteVersion, raters: int = 2) -> Queue:
    """The queue that a curator makes for the keys of a version."""
    return key_kind.make_key_queue(version, raters=raters, by=subjects.curator())


def measured(queue: Queue, *values: float | None) -> ReviewItem:
    """Let people measure, each a new one; gives the item."""
    item = queue.items.get()
    for value in values:
        person = build.reviewer()
        item = subjects.measure(subjects.take(queue, person), person, value)
    return item


def settled(queue: Queue, value: float | None, note: str = "centre lines") -> ReviewItem:
    """Let a third person settle the key."""
    third = subjects.adjudicator()
    return subjects.measure(subjects.take(queue, third, third=True), third, value, note=note)


def test_a_quantity_is_asked_by_its_name_and_unit_and_without_its_value() -> None:
    item = queue_of(version_of()).items.get()
    asked = deciding.questions_of(item)
    assert [(q.text, q.takes, (q.about or {})["unit"]) for q in asked] == [("t-0", "number", "sf")]
    assert str(int(OLD)) not in repr(asked)


def test_what_was_measured_alone_becomes_a_new_revision_with_the_raters_values() -> None:
    version = version_of()
    queue = queue_of(version)
    item = measured(queue, 118.0, 122.0)
    assert item.state == ReviewItem.State.DECIDED
    assert specs.latest_keys(version)[item.task_id or 0].revision == 1
    settled(queue, 120.0)
    key = specs.latest_keys(version)[item.task_id or 0]
    assert key.revision == 2
    assert key.content["quantities"] == [{"item": "t-0", "unit": "sf", "value": 120.0}]
    assert key.content["raters"] == [
        {"item": "t-0", "unit": "sf", "values": [118.0, 122.0], "by": ["rater 1", "rater 2"]}
    ]
    names = {seat.holder.username for seat in item.seats.all() if seat.holder}
    assert len(names) == 3
    assert not any(name in str(key.content) for name in names)
    staged = passes.staged_pass(version)
    assert staged is not None
    assert staged.key_revisions == {str(item.task_id): 2}
    event = AuditEvent.objects.filter(act="keys.revise").latest("pk")
    assert event.details["commitments"] == [key.commitment]


def test_even_those_who_agree_need_a_third_person() -> None:
    version = version_of()
    queue = queue_of(version)
    item = measured(queue, 120.0, 120.0)
    assert item.state == ReviewItem.State.DECIDED
    settled(queue, 120.0)
    assert keying.agreement_of(version)["raters"] == 2


def test_each_value_is_a_decision_on_the_task_with_the_convention() -> None:
    queue = queue_of(version_of())
    item = measured(queue, 118.0, 122.0)
    settled(queue, 120.0, "inner face of the walls")
    rows = Decision.objects.filter(kind="task", task=item.task, part="t-0", current=True)
    assert {(row.source, row.value) for row in rows} == {
        ("person", 118.0),
        ("person", 122.0),
        ("resolution", 120.0),
    }
    assert rows.get(source="resolution").reason == "inner face of the walls"


def test_three_raters_where_one_cannot_tell() -> None:
    version = version_of()
    queue = queue_of(version, 3)
    item = measured(queue, 118.0, None, 122.0)
    settled(queue, 120.0)
    content = specs.latest_keys(version)[item.task_id or 0].content
    assert content["raters"][0]["values"] == [118.0, 122.0]
    assert content["raters"][0]["by"] == ["rater 1", "rater 3"]


def test_a_quantity_that_cannot_be_settled_leaves_the_key_as_it_is() -> None:
    version = version_of()
    queue = queue_of(version)
    item = measured(queue, 118.0, 122.0)
    settled(queue, None)
    assert specs.latest_keys(version)[item.task_id or 0].revision == 1
    assert AuditEvent.objects.filter(act="key.unsettled").exists()


def test_a_draft_is_scored_by_the_settled_key_at_once() -> None:
    version = version_of(publish=False)
    queue = queue_of(version)
    measured(queue, 118.0, 122.0)
    settled(queue, 120.0)
    assert passes.published_pass(version).number == 2


def test_a_rater_sees_the_drawing_and_no_value(client: Client) -> None:
    queue = queue_of(version_of())
    first, second = build.reviewer(), build.reviewer()
    subjects.measure(subjects.take(queue, first), first, 118.25)
    seat = subjects.take(queue, second)
    client.force_login(second)
    page = client.get(f"/review/seats/{seat.pk}/").content.decode()
    assert "Measure alone." in page
    assert "118.25" not in page
    assert 'name="n-q1"' in page


def test_the_third_person_sees_every_value_its_spread_and_the_agreement(client: Client) -> None:
    queue = queue_of(version_of())
    measured(queue, 118.0, 122.0)
    third = subjects.adjudicator()
    seat = subjects.take(queue, third, third=True)
    client.force_login(third)
    page = client.get(f"/review/seats/{seat.pk}/").content.decode()
    assert "118" in page
    assert "122" in page
    assert "3.33 %" in page
    assert "Median error" in page
    assert "by the outer line" in page
    assert Exposure.objects.filter(user=third, what="values of raters").count() == 1


def test_who_measured_is_noted_as_knowing_the_value() -> None:
    queue = queue_of(version_of())
    item = measured(queue, 118.0, 122.0)
    assert Exposure.objects.filter(task=item.task, what="values of the answer key").count() == 2


def test_nobody_with_entrant_rights_measures() -> None:
    queue = queue_of(version_of())
    somebody = build.person("both", "reviewer", "entrant")
    nothing = claiming.claim_next(queue, user=somebody)
    assert isinstance(nothing, NothingFree)
    assert "You enter runs" in nothing.sentence


def test_only_a_curator_makes_the_queue_and_with_two_or_three_raters(client: Client) -> None:
    version = version_of(3)
    page = f"/review/keys/{version.suite.slug}/{version.name}/"
    for who in ("reviewer", "adjudicator", "entrant", "auditor"):
        client.force_login(build.person(who, who))
        assert client.get(page).status_code == 404
    client.force_login(subjects.curator())
    assert "t-2" in client.get(page).content.decode()
    refused = client.post(page, {"raters": "1"})
    assert refused.status_code == 422
    assert "by two or three raters, not by 1" in refused.content.decode()
    assert client.post(page, {"raters": "3"}).status_code == 302
    queue = version.queues.get(kind="keys")
    assert (queue.items.count(), queue.seats_per_item) == (3, 3)
    told = client.get(page).content.decode()
    assert "0 of 3 keys are settled" in told
    assert "100" not in told.split("<table")[1].split("</table>")[0]


def test_a_version_without_numbers_to_measure_says_so() -> None:
    version = make.rubric_version(1)
    with pytest.raises(AcademyError, match="has a quantity that people could measure"):
        key_kind.make_key_queue(version, raters=2, by=subjects.curator())


def test_the_settled_key_is_exported_and_read_back_the_same() -> None:
    version = version_of()
    queue = queue_of(version)
    measured(queue, 118.0, 122.0)
    settled(queue, 120.0)
    fmt = registry.format_of(version.suite.format)
    assert fmt.export_suite is not None
    assert fmt.parse_suite is not None
    spec = specs.suite_spec(version, keys=specs.latest_keys(version))
    files: dict[str, Any] = dict(fmt.export_suite(spec, {}))
    again = fmt.parse_suite(make.as_files(files)).suites[0]
    assert again.tasks[0].key == spec.tasks[0].key


def test_only_curators_read_what_others_measured(client: Client) -> None:
    """Whoever measured reads their own number again, and the third person their own too."""
    queue = queue_of(version_of())
    raters = [build.reviewer(), build.reviewer()]
    for rater, value in zip(raters, (118.25, 122.75), strict=True):
        subjects.measure(subjects.take(queue, rater), rater, value)
    third = subjects.adjudicator()
    item = subjects.measure(subjects.take(queue, third, third=True), third, 120.5)
    seats = list(item.seats.order_by("number").values_list("pk", flat=True))
    pages = [f"/review/seats/{pk}/" for pk in seats]
    pages += ["/review/", "/review/history/", f"/review/items/{item.pk}/"]
    pages += [f"/review/queues/{queue.pk}/", f"/review/queues/{queue.pk}/report/"]
    pages += [f"/suites/{queue.version.suite.slug}/{queue.version.name}/tasks/0/"]
    own = {raters[0]: "118.25", raters[1]: "122.75", third: "120.5"}
    people = [*own, subjects.adjudicator(), build.person("watches", "auditor")]
    told = {}
    for person in people:
        client.force_login(person)
        for page in pages:
            text = client.get(page).content.decode()
            found = {value for value in own.values() if value in text} - {own.get(person)}
            if found:
                told[person.username, page] = found
    assert told == {}
    client.force_login(get_user_model().objects.get(username="curator"))
    assert "122.75" in client.get(f"/review/items/{item.pk}/").content.decode()


def test_the_export_of_measured_verdicts_is_for_curators() -> None:
    queue = queue_of(version_of())
    source = QueueVerdicts()
    for role in ("adjudicator", "auditor"):
        assert not source.is_visible(queue.pk, build.person(role, role))
    assert source.is_visible(queue.pk, get_user_model().objects.get(username="curator"))
