"""Every page of the other subjects, tried by everybody who may come: a table of answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from academy.models import Finding, Organization
from adjudication import appealing, assigning, digesting, inviting, key_kind
from adjudication.models import Appeal
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db
PEOPLE = ("anonymous", "entrant", "reviewer", "adjudicator", "curator", "auditor")
OPEN = (200,) * 6
# Everybody else is sent to sign in, or finds nothing there.
CURATORS = (302, 404, 404, 404, 200, 404)

# page -> what each of PEOPLE gets by GET
READ: dict[str, tuple[int, ...]] = {
    "/review/": (302, 404, 200, 200, 200, 200),
    "/review/appeals/": OPEN,
    "/review/appeals/{appeal}/": OPEN,
    "/review/appeals/{sealed_appeal}/": OPEN,
    "/review/runs/{run}/appeals/": OPEN,
    "/review/records/{record}/appeal/": OPEN,
    "/review/records/{sealed_record}/appeal/": (404, 200, 404, 404, 200, 404),
    "/review/findings/{finding}/": (302, 200, 404, 404, 200, 200),
    "/review/keys/{slug}/1.0/": CURATORS,
    "/review/invitations/": CURATORS,
    "/review/invited/{token}/": OPEN,
    "/review/preferences/": (302, 404, 200, 200, 404, 404),
    "/review/unsubscribe/{unsubscribe}/": OPEN,
    "/suites/{slug}/1.0/keys/": (404, 404, 404, 404, 200, 404),
}
# act -> what each of PEOPLE gets by POST without fields
ACT: dict[str, tuple[int, ...]] = {
    "/review/records/{record}/appeal/": (302, 422, 422, 422, 422, 422),
    "/review/appeals/{appeal}/withdraw/": (302, 302, 422, 422, 422, 422),
    "/review/appeals/{appeal}/pass/": (302, 404, 404, 404, 422, 404),
    "/review/findings/{finding}/": (302, 422, 404, 404, 422, 422),
    "/review/keys/{slug}/1.0/": (302, 404, 404, 404, 422, 404),
    "/review/invitations/": (302, 404, 404, 404, 422, 404),
    "/review/invitations/{invitation}/revoke/": (302, 404, 404, 404, 302, 404),
    "/review/preferences/": (302, 404, 422, 422, 404, 404),
}


@dataclass
class World:
    """People by role, and what stands in the places of the table."""

    people: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Any] = field(default_factory=dict)

    def client(self, who: str) -> Client:
        """A browser of one of the people."""
        client = Client()
        if who != "anonymous":
            client.force_login(self.people[who])
        return client


@pytest.fixture
def world() -> World:
    """A decided record with an appeal, the same on a sealed version, a finding, an invitation."""
    _queue, record, _reviewer = subjects.decided_record()
    entrant = subjects.entrant_of(record.run)
    sealed = make.sealed_version(1)
    sealed_run = make.takeoff_run(sealed, name="Sealed entrant")
    make.score_all()
    sealed_run.entrant.organization = record.run.entrant.organization
    sealed_run.entrant.save()
    sealed_record = sealed_run.records.get()
    people = {"entrant": entrant, "curator": subjects.curator()}
    people |= {role: build.person(role, role) for role in PEOPLE[2:] if role != "curator"}
    appeal = appealing.open_appeal(record, text="Look again.", by=entrant)
    sealed_appeal = appealing.open_appeal(sealed_record, text="It is 4711.", by=entrant)
    team = Organization.objects.get(slug="team")
    made = inviting.invite(role="reviewer", organization=team, days=3, by=people["curator"])
    finding = subjects.finding_on(record.run)
    assigning.fill_queue(record.run.version)
    Finding.objects.filter(pk=finding.pk).update(state="asked")
    return World(
        people,
        {
            "appeal": appeal.pk,
            "sealed_appeal": sealed_appeal.pk,
            "run": record.run_id,
            "record": record.pk,
            "sealed_record": sealed_record.pk,
            "finding": finding.pk,
            "slug": sealed.suite.slug,
            "token": made.token,
            "invitation": made.invitation.pk,
            "unsubscribe": digesting.unsubscribe_token(people["reviewer"]),
        },
    )


def test_everybody_reads_what_is_theirs_and_nothing_else(world: World) -> None:
    found = {
        page: tuple(
            world.client(who).get(page.format(**world.places)).status_code for who in PEOPLE
        )
        for page in READ
    }
    assert found == READ


def test_everybody_does_what_is_theirs_and_nothing_else(world: World) -> None:
    found = {}
    for act in ACT:
        # Who may really do it comes last, so that the others find it undone.
        order = sorted(range(len(PEOPLE)), key=lambda place: ACT[act][place] < 400)
        path = act.format(**world.places)
        got = {place: world.client(PEOPLE[place]).post(path).status_code for place in order}
        found[act] = tuple(got[place] for place in range(len(PEOPLE)))
    assert found == ACT


def test_an_auditor_reads_review_and_decides_nothing(world: World) -> None:
    client = world.client("auditor")
    queue = subjects.queue_for(Appeal.objects.get(pk=world.places["appeal"]).record.run.version,
                               "appeals")  # type: ignore[union-attr]  # fmt: skip
    client.post(f"/review/queues/{queue.pk}/claim/")
    assert not world.people["auditor"].seats.exists()
    assert (
        "4711"
        not in client.get(f"/review/appeals/{world.places['sealed_appeal']}/").content.decode()
    )


def test_nobody_but_the_holder_reads_a_seat_of_the_other_kinds(world: World) -> None:
    queue = key_kind.make_key_queue(
        Appeal.objects.get(pk=world.places["sealed_appeal"]).record.run.version,  # type: ignore[union-attr]
        raters=2,
        by=world.people["curator"],
    )
    holder = build.reviewer()
    seat = subjects.take(queue, holder)
    page = f"/review/seats/{seat.pk}/"
    found = {who: world.client(who).get(page).status_code for who in PEOPLE}
    assert found == dict.fromkeys(PEOPLE, 404) | {"anonymous": 302}
    client = Client()
    client.force_login(holder)
    assert client.get(page).status_code == 200
