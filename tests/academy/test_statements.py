"""Statements whose plans the server keeps, and those it plans anew."""

from __future__ import annotations

import pytest
from django.db import connection

from academy.models import Suite
from academy.statements import all_bound

pytestmark = pytest.mark.django_db


def kept_plans() -> int:
    """How many statements the server keeps for this connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        return int(cursor.fetchone()[0])


def ask_often() -> None:
    for number in range(6):
        assert not Suite.objects.filter(slug=f"none-{number}").exists()


def test_plans_are_kept_for_what_is_asked_within_and_for_nothing_after() -> None:
    before = kept_plans()
    ask_often()
    assert kept_plans() == before
    with all_bound():
        ask_often()
    assert kept_plans() == before + 1
    with pytest.raises(ValueError, match="fails"), all_bound():
        raise ValueError("fails")
    Suite.objects.filter(title="asked often, as text").count()
    ask_often()
    assert kept_plans() == before + 1


def test_logged_statements_keep_their_text(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(6) as captured, all_bound():  # type: ignore[operator]
        ask_often()
    assert all("none-" in held["sql"] for held in captured.captured_queries)
