"""Curators choose accounts by name; what else is kept of an account is not theirs to read."""

from __future__ import annotations

import pytest
from django.test import Client

from academy.models import Membership, Organization
from tests import factories as made

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator(client: Client) -> Client:
    client.force_login(made.person("curator", "curator"))
    return client


def test_a_curator_reads_the_name_of_an_account_and_nothing_else(curator: Client) -> None:
    known = made.person("known", "reviewer")
    known.email = "known@example.test"
    known.save()
    listed = curator.get("/admin/auth/user/").content.decode()
    shown = curator.get(f"/admin/auth/user/{known.pk}/change/").content.decode()
    for page in (listed, shown):
        assert "known" in page and "known@example.test" not in page
    assert "field-password" not in shown and "field-is_superuser" not in shown
    address = f"/admin/auth/user/{known.pk}/change/"
    assert curator.post(address, {"username": "other"}).status_code == 403
    assert curator.get("/admin/auth/user/?q=example.test").content.decode().count("known") == 0
    assert curator.get("/admin/auth/user/?email__startswith=k").status_code in (302, 400)


def test_a_curator_finds_accounts_by_name_for_a_membership(curator: Client) -> None:
    known = made.person("known", "reviewer")
    assert curator.get("/admin/academy/membership/add/").status_code == 200
    found = curator.get(
        "/admin/autocomplete/?term=know&app_label=academy&model_name=membership&field_name=user"
    ).json()
    assert [row["id"] for row in found["results"]] == [str(known.pk)]
    organization = Organization.objects.create(slug="example", name="Example")
    data = {"user": known.pk, "organization": organization.pk, "role": "auditor"}
    assert curator.post("/admin/academy/membership/add/", data).status_code == 302
    assert Membership.objects.filter(user=known, role="auditor").exists()


def test_others_see_no_accounts(client: Client) -> None:
    client.force_login(made.person("reader", "reviewer"))
    assert client.get("/admin/auth/user/").status_code in (302, 403)
