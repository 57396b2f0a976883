"""A reviewer with a seat."""

from __future__ import annotations

from typing import Any

import pytest

from adjudication.models import Queue, Seat
from tests.adjudication import builders as build
from tests.adjudication.deciding.times import NOON


@pytest.fixture
def queue() -> Queue:
    return build.waiting_queue(2, undo_seconds=10)


@pytest.fixture
def seat(queue: Queue, anna: Any) -> Seat:
    return build.claimed(queue, anna, at=NOON)
