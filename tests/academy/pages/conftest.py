"""A scored run that pages show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from academy.models import Run, SuiteVersion
from tests import factories as make


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Run]:
    """A scored run, made once; each test changes it in a transaction of its own."""
    with django_db_blocker.unblock(), transaction.atomic():
        version = make.takeoff_version(3)
        run = make.takeoff_run(version, {"t-0": 100, "t-1": 150}, name="Robo <b>Takeoff</b>")
        make.score_all()
        yield run
        transaction.set_rollback(True)


@pytest.fixture
def run(made: Run, db: None) -> Run:
    return Run.objects.select_related("entrant", "version__suite").get(pk=made.pk)


@pytest.fixture
def version(run: Run) -> SuiteVersion:
    return run.version
