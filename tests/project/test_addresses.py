"""An address that nothing can have is not found, and breaks nothing."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard import boards
from tests import factories as made

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "address", ["/suites/example/%00/", "/suites/%00/", "/boards/%00/", "/entrants/a%00b/"]
)
def test_a_path_with_a_null_character_is_not_found(address: str) -> None:
    assert Client().get(address).status_code == 404


def test_a_query_with_a_null_character_asks_for_what_is_left() -> None:
    (board,) = boards.ensure_boards(made.takeoff_version(8, slug="example"))
    assert Client().get("/compare/?board=%00").status_code == 200
    assert Client().get(f"/compare/?board={board.slug}%00").status_code == 200
    for address in ("/search/", "/runs/", f"/boards/{board.slug}/", "/api/v1/boards/"):
        assert Client().get(f"{address}?q=%00&cursor=%00&like=a%00").status_code == 200


def test_browsers_find_the_picture_of_the_site() -> None:
    response = Client().get("/favicon.ico")
    assert response.status_code == 302
    assert response["Location"].endswith(".svg")


def test_an_address_that_only_takes_a_form_leads_back_to_its_page() -> None:
    client = Client()
    page = client.get("/review/appeals/7/withdraw/")
    assert (page.status_code, page["Allow"]) == (405, "POST")
    assert 'href="/review/appeals/7/"' in page.content.decode()
    assert client.post("/review/appeals/").content == b""


def test_a_form_from_before_the_last_login_says_what_to_do() -> None:
    refused = Client(enforce_csrf_checks=True).post("/login/", {"username": "anna"})
    assert refused.status_code == 403
    assert "what you typed still stands in the form" in refused.content.decode()
