"""A queue to report on, and who reads and reviews."""

from __future__ import annotations

from typing import Any

import pytest

from adjudication.models import Queue
from tests.adjudication import builders as build
from tests.adjudication.builders import person
from tests.adjudication.reviews import quiet_queue


@pytest.fixture
def queue() -> Queue:
    return quiet_queue()


@pytest.fixture
def curator() -> Any:
    return person("cora", "curator")


@pytest.fixture
def anna() -> Any:
    return build.reviewer("anna")


@pytest.fixture
def bert() -> Any:
    return build.reviewer("bert")
