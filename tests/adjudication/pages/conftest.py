"""A reviewer who is signed in and holds a seat."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from adjudication.models import Queue, Seat
from tests.adjudication import builders as build


@pytest.fixture
def queue() -> Queue:
    return build.waiting_queue(3)


@pytest.fixture
def anna(client: Client) -> Any:
    user = build.reviewer("anna")
    client.force_login(user)
    return user


@pytest.fixture
def seat(queue: Queue, anna: Any) -> Seat:
    return build.claimed(queue, anna)
