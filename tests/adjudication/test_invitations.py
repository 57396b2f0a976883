"""Invitations by link: made once, shown once, used once, and every other link says why not."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from academy.errors import AcademyError
from academy.models import AuditEvent, Membership, Organization
from adjudication import inviting
from adjudication.models import Invitation
from tests.adjudication import builders as build
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-enough-phrase-41"


def invited(role: str = "reviewer", days: int = 14) -> tuple[Invitation, str]:
    """An invitation with the path of its link."""
    team, _made = Organization.objects.get_or_create(slug="team", defaults={"name": "Team"})
    curator = get_user_model().objects.filter(username="curator").first() or subjects.curator()
    made = inviting.invite(role=role, organization=team, days=days, by=curator)
    return made.invitation, f"/review/invited/{made.token}/"


def sign_up(**changes: str) -> dict[str, str]:
    """The form of a new account."""
    return {
        "username": "newcomer",
        "email": "newcomer@example.org",
        "password1": PASSWORD,
        "password2": PASSWORD,
        **changes,
    }


def test_a_curator_makes_a_link_that_is_shown_once(client: Client) -> None:
    Organization.objects.create(slug="team", name="Team")
    client.force_login(subjects.curator())
    form = {
        "role": "adjudicator",
        "organization": Organization.objects.get(slug="team").pk,
        "days": "7",
        "note": "for the pilot",
    }
    page = client.post("/review/invitations/", form).content.decode()
    link = re.search(r"http://testserver(/review/invited/[\w-]+/)", page)
    assert link is not None
    invitation = Invitation.objects.get()
    token = link[1].split("/")[-2]
    assert token not in client.get("/review/invitations/").content.decode()
    assert token not in str(Invitation.objects.values().get())
    assert invitation.token_digest == inviting.digest_of(token)
    client.logout()
    assert "invites you as <b>adjudicator</b>" in client.get(link[1]).content.decode()


@pytest.mark.parametrize(
    "changes", [{"role": "curator"}, {"days": "0"}, {"days": "91"}, {"organization": "0"}]
)
def test_a_wrong_form_makes_no_link(client: Client, changes: dict[str, str]) -> None:
    team = Organization.objects.create(slug="team", name="Team")
    client.force_login(subjects.curator())
    form = {"role": "reviewer", "organization": str(team.pk), "days": "7", **changes}
    assert client.post("/review/invitations/", form).status_code == 422
    assert not Invitation.objects.exists()


def test_whoever_has_the_link_makes_an_account_and_reviews(client: Client) -> None:
    invitation, link = invited()
    done = client.post(link, sign_up())
    assert done.headers["Location"] == "/review/"
    user = get_user_model().objects.get(username="newcomer")
    held = Membership.objects.get(user=user)
    assert (held.role, held.organization) == ("reviewer", invitation.organization)
    assert client.get("/review/").status_code == 200
    invitation.refresh_from_db()
    assert invitation.accepted_by == user
    event = AuditEvent.objects.get(act="invitation.accept")
    assert (event.actor, event.details["role"]) == (user, "reviewer")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"password1": "12345678", "password2": "12345678"}, "too common"),
        ({"password1": "newcomer1", "password2": "newcomer1"}, "too similar to the username"),
        ({"password2": "something else"}, "match"),
        ({"username": "curator"}, "already exists"),
        ({"username": ""}, "required"),
        ({"email": "nowhere"}, "valid email"),
    ],
)
def test_a_wrong_sign_up_says_what_is_wrong_and_uses_nothing(
    client: Client, changes: dict[str, str], told: str
) -> None:
    invitation, link = invited()
    answer = client.post(link, sign_up(**changes))
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not get_user_model().objects.filter(username="newcomer").exists()
    invitation.refresh_from_db()
    assert invitation.accepted_at is None


def test_somebody_with_an_account_accepts_signed_in(client: Client) -> None:
    invitation, link = invited("adjudicator")
    somebody = build.person("somebody")
    assert f"/login/?next={link}" in client.get(link).content.decode()
    client.force_login(somebody)
    assert "You are signed in as <b>somebody</b>" in client.get(link).content.decode()
    assert client.post(link).status_code == 302
    assert Membership.objects.get(user=somebody).role == "adjudicator"
    invitation.refresh_from_db()
    assert invitation.accepted_by == somebody


def test_a_link_works_once(client: Client) -> None:
    _invitation, link = invited()
    client.force_login(build.person("first"))
    client.post(link)
    client.force_login(build.person("second"))
    for answer in (client.get(link), client.post(link)):
        assert answer.status_code == 410
        assert "each works once" in answer.content.decode()
    assert Membership.objects.filter(role="reviewer").count() == 1


def used_up(what: str) -> str:
    """A link that opens nothing, by the reason."""
    invitation, link = invited()
    if what == "ended":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif what == "taken back":
        inviting.revoke(invitation, by=invitation.created_by)
    else:
        link = "/review/invited/nobody-knows-this/"
    return link


@pytest.mark.parametrize("what", ["ended", "taken back", "has this link"])
def test_links_that_open_nothing_explain_themselves(client: Client, what: str) -> None:
    link = used_up(what)
    for answer in (client.get(link), client.post(link, sign_up())):
        assert answer.status_code == 410
        assert what in answer.content.decode()
    assert not Membership.objects.filter(role="reviewer").exists()


def test_who_has_the_role_already_leaves_the_link_for_somebody_else(client: Client) -> None:
    invitation, link = invited()
    somebody = build.person("somebody")
    Membership.objects.create(user=somebody, organization=invitation.organization, role="reviewer")
    client.force_login(somebody)
    assert client.post(link).status_code == 302
    invitation.refresh_from_db()
    assert invitation.accepted_at is None


def test_only_curators_see_make_and_revoke_invitations(client: Client) -> None:
    invitation, _link = invited()
    for role in ("reviewer", "adjudicator", "entrant", "auditor"):
        client.force_login(build.person(role, role))
        assert client.get("/review/invitations/").status_code == 404
        assert client.post("/review/invitations/", {}).status_code == 404
        assert client.post(f"/review/invitations/{invitation.pk}/revoke/").status_code == 404
    with pytest.raises(AcademyError, match="Only curators"):
        inviting.invite(
            role="reviewer",
            organization=invitation.organization,
            days=3,
            by=build.person("other", "reviewer"),
        )
    client.force_login(invitation.created_by)
    client.post(f"/review/invitations/{invitation.pk}/revoke/")
    invitation.refresh_from_db()
    assert invitation.revoked_at is not None


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_is_accepted() -> None:
    _invitation, link = invited()
    token = link.split("/")[-2]
    people = [build.person(f"racer-{number}") for number in range(6)]

    def try_it(person: Any) -> bool:
        try:
            inviting.accept(token, user=person)
        except AcademyError:
            return False
        return True

    with build.threads(6) as pool:
        won = list(pool.map(lambda person: build.in_thread(try_it, person), people))
    assert won.count(True) == 1
    assert Membership.objects.filter(role="reviewer").count() == 1
