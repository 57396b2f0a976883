"""What a Doc Bridge record has to keep is read off wherever records are read."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse

from academy import pages
from academy.formats.reading import Files
from academy.models import Run, SuiteVersion
from tests import factories as make
from tests.academy.exporting_making import get, sample

pytestmark = pytest.mark.django_db
RETAINED = (
    "suite_hash",
    "protocol_hash",
    "source_revision",
    "model",
    "scenario",
    "replicate",
    "verification_run_id",
)


def study_run(version: SuiteVersion | None) -> Run:
    report = make.record_files(sample("one-run"), version)
    Run.objects.filter(pk=report.runs[0].run).update(state="closed")
    make.score_all()
    return make.run_of(report)


def test_the_seven_things_of_a_study_are_on_page_and_export_row(client: Client) -> None:
    version = make.version_of(make.import_files(sample("one-repository"), publish=True))
    run = study_run(version)
    make.person("curator", "curator")
    for held in run.records.all():
        facts = pages.retained_facts(pages.view_of(held))
        body = client.get(reverse("academy:record", args=[held.pk])).content.decode()
        for name in RETAINED:
            assert name in facts
            assert facts[name] is not None, name
            label = name.replace("_", " ").capitalize()
            assert f'<dt>{label}</dt><dd class="ev">{facts[name]}</dd>' in body
    rows = json.loads(get(client, "run-json", run).content)["rows"]
    assert rows
    for row in rows:
        assert set(RETAINED) <= set(row["facts"])
    (first, *_rest) = csv.DictReader(io.StringIO(get(client, "run-csv", run).content.decode()))
    assert all(first[f"fact {name}"] for name in RETAINED)


def test_what_nobody_said_is_shown_as_not_said(client: Client) -> None:
    contents = {
        str(path): data
        for path, data in sample("one-repository").items()
        if not str(path).endswith(("run-plan.json", "verification.json", "protocol.json"))
    }
    version = make.version_of(make.import_files(Files.of(contents), publish=True))
    run = study_run(version)
    record = run.records.first()
    assert record is not None
    body = client.get(reverse("academy:record", args=[record.pk])).content.decode()
    for name in ("suite_hash", "protocol_hash", "source_revision", "verification_run_id"):
        label = name.replace("_", " ").capitalize()
        assert f'<dt>{label}</dt><dd class="ev"><span class="dim">not said</span></dd>' in body
    rows = json.loads(get(client, "run-json", run).content)["rows"]
    assert all(row["facts"]["suite_hash"] is None for row in rows)
