"""Limits hold when ten uploads come at once, and our own failures cost nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from academy import ending, limiting
from academy.errors import AcademyError
from academy.models import Entrant, Organization, Run, Submission, SuiteVersion
from tests import factories as make
from tests.threads import in_threads


@pytest.fixture
def version(db: None) -> SuiteVersion:
    return make.takeoff_version(1, mode="practice")


def enter(version: SuiteVersion, account: Any, name: str = "Example") -> Run:
    return make.takeoff_run(version, {"t-0": float(next(make.numbers))}, name=name, account=account)


def test_an_account_may_enter_so_many_runs_in_all(version: SuiteVersion) -> None:
    limiting.set_limit(version, "account", 2)
    ada, ben = make.person("ada"), make.person("ben")
    enter(version, ada)
    enter(version, ada, name="Another")
    before = make.whole_database()
    with pytest.raises(AcademyError, match=r"account ada has entered 2 of 2 runs on .* in all"):
        enter(version, ada)
    assert make.changed_tables(before) == []
    enter(version, ben)


def test_a_window_rolls_and_says_when_the_next_is_possible(version: SuiteVersion) -> None:
    limiting.set_limit(version, "account", 1, days=7)
    ada = make.person("ada")
    first = enter(version, ada)
    with pytest.raises(
        AcademyError, match=r"in 7 days; 1 more would go beyond\. The next is possible"
    ):
        enter(version, ada)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE academy_run DISABLE TRIGGER runs_frozen")
    Run.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(days=8))
    enter(version, ada)


def test_an_organisation_shares_its_limit(version: SuiteVersion) -> None:
    limiting.set_limit(version, "organization", 1)
    lab = Organization.objects.create(slug="lab", name="Lab")
    ada = make.person("ada", "entrant", organization=lab)
    ben = make.person("ben", "entrant", organization=lab)
    enter(version, ada)
    assert Submission.objects.get(account=ada).organization == lab
    with pytest.raises(AcademyError, match="organization Lab has entered 1 of 1"):
        enter(version, ben, name="Other")


def test_our_own_failure_costs_nothing_and_a_withdrawal_does(version: SuiteVersion) -> None:
    limiting.set_limit(version, "account", 1)
    ada = make.person("ada")
    ending.fail_run(enter(version, ada), reason="our disk was full")
    ending.withdraw_run(enter(version, ada), reason="entered by mistake")
    with pytest.raises(AcademyError, match="1 of 1"):
        enter(version, ada)


def test_the_same_bytes_again_and_baselines_cost_nothing(version: SuiteVersion) -> None:
    limiting.set_limit(version, "account", 1)
    ada = make.person("ada")
    document = {"run.bundle.json": make.bundle(version, {"t-0": 5})}
    make.record_files(document, version, account=ada)
    make.record_files(document, version, account=ada)
    make.takeoff_run(version, {"t-0": 7}, account=ada, kind="human")
    assert Run.objects.filter(version=version, kind="entrant").count() == 1


@pytest.mark.django_db(transaction=True)
def test_ten_uploads_at_once_with_one_attempt_left_are_accepted_once() -> None:
    version = make.takeoff_version(1, mode="practice")
    limiting.set_limit(version, "account", 1)
    ada = make.person("ada")
    documents = [make.bundle(version, {"t-0": n}, name=f"Entrant {n}") for n in range(8)]

    def upload(number: int) -> str:
        try:
            make.record_files({"run.bundle.json": documents[number]}, version, account=ada)
        except AcademyError as error:
            return str(error)
        return "accepted"

    told = in_threads(8, upload)
    assert told.count("accepted") == 1
    assert all("1 of 1 runs" in text for text in told if text != "accepted")
    assert Run.objects.filter(version=version, kind="entrant").count() == 1
    assert Submission.objects.filter(account=ada).count() == 1
    assert Entrant.objects.filter(slug__startswith="entrant-").count() == 1
