"""What the whole suite stands on: real servers of its own, and what a machine may lack.

The servers start while this file is imported, before Django reads its settings. The pair is
shared by all processes of one run; each process has a database and a Redis number of its own.
"""

from __future__ import annotations

import atexit
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import django
import execnet
import hypothesis
import pytest
from django.conf import settings
from django.db import connection

from academy.project.embedded.throwaway import throwaway
from tests.requiring import missing, required

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
FIRST_VARIABLE = "ACADEMY_TEST_REDIS_URL"


def start_servers() -> None:
    """Start a pair for this run, and let the processes that it starts know of it."""
    if settings.configured:
        raise pytest.UsageError(
            "Django's settings were read before the test servers were started. Unset "
            "DJANGO_SETTINGS_MODULE and leave out --ds; the tests choose the settings."
        )
    stack = ExitStack()
    atexit.register(stack.close)
    started = stack.enter_context(throwaway())
    os.environ["DATABASE_URL"] = started.addresses.database_url
    os.environ[FIRST_VARIABLE] = started.addresses.redis_url
    os.environ["ACADEMY_TEST_DATA"] = str(started.folder)


def choose_own() -> None:
    """Give this process a Redis number and a data folder of its own, and set Django up."""
    number = int(WORKER.removeprefix("gw")) + 1 if WORKER else 0
    data = Path(os.environ["ACADEMY_TEST_DATA"]) / f"data-{number}"
    (data / "static").mkdir(parents=True)  # WhiteNoise warns when it is missing
    os.environ["ACADEMY_DATA"] = str(data)
    os.environ["REDIS_URL"] = f"{os.environ[FIRST_VARIABLE]}?db={number}"
    os.environ["DJANGO_SETTINGS_MODULE"] = "academy.project.settings"
    django.setup()


if FIRST_VARIABLE not in os.environ:
    start_servers()
choose_own()

hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: list[execnet.XSpec]) -> None:
    """Keep Django from reading its settings in a worker before this file chose its own."""
    unset = "env:DJANGO_SETTINGS_MODULE="
    specs[:] = [execnet.XSpec(f"{spec}//id={spec.id}//{unset}") for spec in specs]


def pytest_configure() -> None:
    """Refuse an unknown word in ACADEMY_REQUIRE at once."""
    required()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Let each table count its rows from another number: a key of one is no key of another."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_serial_sequence(quote_ident(table_name), 'id') FROM information_schema"
            ".columns WHERE table_schema = 'public' AND column_name = 'id' ORDER BY table_name"
        )
        counters = [name for (name,) in cursor.fetchall() if name]
        for place, name in enumerate(counters, 1):
            cursor.execute(f"ALTER SEQUENCE {name} RESTART WITH {place * 1000}")


@pytest.fixture(scope="session")
def conformance_data() -> Path:
    """The folder of real files and oracles that ACADEMY_CONFORMANCE_DATA names."""
    named = os.environ.get("ACADEMY_CONFORMANCE_DATA")
    if not named:
        missing("data", "ACADEMY_CONFORMANCE_DATA names no folder")
    folder = Path(named).resolve()
    if not folder.is_dir():
        missing("data", f"ACADEMY_CONFORMANCE_DATA names {folder}, which is no folder")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Chromium's executable: ACADEMY_CHROMIUM, or one from the PATH."""
    named = os.environ.get("ACADEMY_CHROMIUM")
    for name in (named, "chromium-headless-shell", "chromium", "chromium-browser"):
        if name and (found := shutil.which(name)):
            return Path(found)
    missing("browser", "there is no chromium on the PATH (apt-get install chromium)")
