"""Documents that come after their suite are kept with it, and the plans among them are rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from academy import exporting, registry, specs
from academy.errors import AcademyError
from academy.formats.reading import Files
from academy.models import Binding, Plan, Run, SuiteVersion
from tests import factories as make
from tests.academy.exporting_making import sample
from tests.academy.test_formats import ROOT

pytestmark = pytest.mark.django_db
SUITE = "study/task-suite.json"
LATER = ("study/protocol.json", "study/run-plan.json", "study/verification.json")


def study(*left_out: str) -> dict[str, bytes]:
    """The files of the study, without some."""
    files = sample("one-repository")
    return {str(path): data for path, data in files.items() if str(path) not in left_out}


def bare_version() -> SuiteVersion:
    """The published suite, whose plan, protocol and binding are yet to come."""
    return make.version_of(make.import_files(Files.of(study(*LATER)), publish=True))


def companions(version: SuiteVersion) -> dict[str, Any]:
    kept: dict[str, Any] = specs.suite_spec(version).extra["companions"]
    return kept


def changed_json(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    value = json.loads(data)
    change(value)
    return json.dumps(value).encode()


def test_documents_of_a_known_version_are_added_and_told() -> None:
    version = bare_version()
    assert not set(LATER) & set(companions(version))
    report = make.import_files(Files.of(study()))
    (outcome,) = report.suites
    assert outcome.outcome == "extended"
    assert outcome.digest == version.digest
    assert all(path in outcome.note for path in LATER)
    assert set(LATER) <= set(companions(version))
    assert set(LATER) <= set(version.files.values_list("path", flat=True))


def test_what_is_published_does_not_change_by_it() -> None:
    version = bare_version()
    before = SuiteVersion.objects.filter(pk=version.pk).values().get()
    make.import_files(Files.of(study()))
    assert SuiteVersion.objects.filter(pk=version.pk).values().get() == before


def test_documents_that_are_known_change_nothing() -> None:
    bare_version()
    make.import_files(Files.of(study()))
    before = make.whole_database()
    report = make.import_files(Files.of(study()))
    assert report.suites[0].outcome == "unchanged"
    assert make.changed_tables(before) == []


def test_a_document_written_otherwise_is_the_same_document() -> None:
    make.import_files(Files.of(study()), publish=True)
    before = make.whole_database()
    spaced = {
        path: json.dumps(json.loads(data), indent=7).encode() if path.endswith(".json") else data
        for path, data in study().items()
    }
    report = make.import_files(Files.of(spaced))
    assert report.suites[0].outcome == "unchanged"
    assert make.changed_tables(before) == []


def test_a_dry_run_tells_of_documents_and_keeps_none() -> None:
    bare_version()
    before = make.whole_database()
    report = make.import_files(Files.of(study()), dry_run=True)
    assert report.suites[0].outcome == "extended"
    assert make.changed_tables(before) == []


def test_plans_and_bindings_are_rows_whenever_they_come() -> None:
    bare_version()
    assert not Plan.objects.exists()
    make.import_files(Files.of(study()))
    later = Plan.objects.values("name", "plan_hash", "sample", "population", "strategy").get()
    binding = Binding.objects.get()
    document = json.loads(study()["study/run-plan.json"])
    assert later["plan_hash"] == document["contentHash"]
    assert later["sample"] == document["sampling"]["sampleSize"]
    vouching = json.loads(study()["study/verification.json"])
    assert binding.verification_run == vouching["verificationRunId"]
    assert binding.hashes["sourceRevisionHash"] == document["sourceRevisionHash"]


def test_plans_that_come_with_their_suite_are_rows_as_well() -> None:
    version = make.version_of(make.import_files(Files.of(study()), publish=True))
    assert Plan.objects.get().version == version
    assert Binding.objects.count() == 1


def test_other_content_under_a_path_that_is_taken_is_refused() -> None:
    version = make.version_of(make.import_files(Files.of(study()), publish=True))
    from academy.formats.doc_bridge.hashing import sealed

    plan = json.loads(study()["study/run-plan.json"])
    payload = {
        name: held
        for name, held in plan.items()
        if name not in ("contentHash", "hashAlgorithm", "contentHashAlgorithm")
    }
    other = json.dumps(sealed({**payload, "planVersion": "v2"})).encode()
    files = {**study(), "study/run-plan.json": other}
    before = make.whole_database()
    with pytest.raises(AcademyError, match=r"study/run-plan\.json is kept with"):
        make.import_files(Files.of(files))
    assert make.changed_tables(before) == []
    elsewhere = {**study(), "study/run-plan-2.json": other}
    report = make.import_files(Files.of(elsewhere))
    assert report.suites[0].outcome == "extended"
    assert set(Plan.objects.values_list("name", flat=True)) == {plan["planVersion"], "v2"}
    assert "study/run-plan-2.json" in companions(version)


def test_added_documents_are_exported_and_come_back() -> None:
    version = bare_version()
    make.import_files(Files.of(study()))
    export = exporting.export_suite(version)
    for path in (SUITE, *LATER):
        assert json.loads(export.files[path]) == json.loads(study()[path])
    before = make.whole_database()
    report = make.import_files(Files.of(dict(export.files)))
    assert report.suites[0].outcome == "unchanged"
    assert make.changed_tables(before) == []


def test_the_format_plans_by_a_document_that_came_later() -> None:
    version = bare_version()
    make.import_files(Files.of(study()))
    plan = registry.format_of("doc_bridge").plan
    assert plan is not None
    name = json.loads(study()["study/run-plan.json"])["planVersion"]
    made = plan(specs.suite_spec(version, keys=specs.latest_keys(version)), {"plan": name})
    assert made["plan"] == name


def test_records_know_what_came_later() -> None:
    version = bare_version()
    make.import_files(Files.of(study()))
    run = make.run_of(make.record_files(sample("one-run"), version))
    raw = run.records.first()
    assert raw is not None
    from academy import pages

    facts = pages.retained_facts(pages.view_of(raw))
    assert facts["verification_run_id"]
    assert facts["suite_hash"] == version.attributes["suite_hash"]


def test_a_run_finds_its_version_by_the_hash_that_its_plan_names() -> None:
    version = make.version_of(make.import_files(Files.of(study()), publish=True))
    files = {str(path): data for path, data in sample("one-run").items()}
    files["run-plan.json"] = study()["study/run-plan.json"]
    report = make.record_files(Files.of(files))
    assert {Run.objects.get(pk=one.run).version_id for one in report.runs} == {version.pk}


def test_a_ledger_alone_finds_its_version_by_a_plan_that_is_kept() -> None:
    version = make.version_of(make.import_files(Files.of(study()), publish=True))
    make.import_files(Files.of(study()))
    run = make.run_of(make.record_files(sample("one-run")))
    assert run.version == version
    from academy import pages

    record = run.records.first()
    assert record is not None
    assert pages.retained_facts(pages.view_of(record))["verification_run_id"]


def test_a_ledger_of_no_known_plan_asks_for_its_version() -> None:
    bare_version()
    with pytest.raises(AcademyError, match=r"of plan .* is not here"):
        make.record_files(sample("one-run"))


def test_pieces_of_a_ledger_come_back_as_the_files_that_they_were() -> None:
    version = make.version_of(make.import_files(Files.of(study()), publish=True))
    folder = ROOT / "doc_bridge/samples/accept/pieces"
    pieces = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    runs: set[int] = set()
    for path, data in reversed(pieces.items()):
        report = make.record_files(Files.of({path: data}), version)
        runs |= {one.run for one in report.runs if one.run}
    written: dict[str, bytes] = {}
    for pk in sorted(runs):
        written |= exporting.export_upload(Run.objects.get(pk=pk)).files
    assert set(written) == set(pieces)
    for path, data in pieces.items():
        if path.endswith(".jsonl"):
            assert [json.loads(line) for line in written[path].splitlines()] == [
                json.loads(line) for line in data.splitlines()
            ]
        else:
            assert json.loads(written[path]) == json.loads(data)
