"""A version that runs are recorded on."""

from __future__ import annotations

import pytest

from academy.models import SuiteVersion
from tests import factories as make


@pytest.fixture
def version() -> SuiteVersion:
    """A draft: a published version has runs of its own, which the site makes."""
    return make.takeoff_version(5, publish=False)
