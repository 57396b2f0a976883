"""A site on which nothing is stored yet."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

pytestmark = pytest.mark.django_db


def test_an_empty_site_says_what_will_be_there() -> None:
    cache.clear()
    client = Client()
    for path, said in (
        ("/", "No boards yet"),
        ("/boards/", "No boards yet"),
        ("/suites/", "No suites yet"),
        ("/runs/", "No runs yet"),
    ):
        assert said in client.get(path).content.decode()
