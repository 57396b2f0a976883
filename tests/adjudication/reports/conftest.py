"""A queue to report on, and who reads and reviews."""

from __future__ import annotations

import pytest

from adjudication.models import Queue
from tests.adjudication.reviews import quiet_queue


@pytest.fixture
def queue() -> Queue:
    return quiet_queue()
