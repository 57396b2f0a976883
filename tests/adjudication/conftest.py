"""Who reviews and who curates, for the tests that need no more of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adjudication import builders as build


@pytest.fixture
def anna() -> Any:
    return build.reviewer("anna")


@pytest.fixture
def bert() -> Any:
    return build.reviewer("bert")


@pytest.fixture
def curator() -> Any:
    return build.person("cora", "curator")
