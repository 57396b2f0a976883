"""Doc Bridge: what becomes of every published file, and the oracle of expected results."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from academy.bundle import RunUpload, SuiteSpec
from academy.errors import AcademyError, FormatError
from academy.formats.doc_bridge import FORMAT, export
from academy.formats.doc_bridge.hashing import sealed
from academy.formats.reading import Files
from academy.registry import scorer_of
from academy.scorers.base import Mode
from tests.conformance.__main__ import run_format

pytestmark = pytest.mark.data
LEDGER = "phase4-public-pilot-ledger-v1.json"
STALE = (
    "ab-adjudicated-cost-result-v1.json",
    "round-2-expanded-adjudication-v1.json",
    "round-3-evidence-contract-v1.json",
    "round-4-confirmation-v1.json",
)
IMPORTED_AS_SUITE = ("phase4-public-pilot-task-suite-v1.json", "task-suite-v1.json")
IMPORTED_AS_RUN = (LEDGER, "observation-ledger-v1.excerpt.json")
KEPT = {
    "task-suite": {
        "ab-adjudicated-cost-plan-v1.json",
        "ab-adjudicated-cost-plan-v2-v1.json",
        "ab-baseline-plan-v1.json",
        "ab-baseline-recovery-plan-v1.json",
        "historical-evidence-v1.json",
        "phase3-task-coverage-v1.json",
        "protocol-v1.json",
        "run-plan-v1.json",
    },
    "phase4-public-pilot-task-suite": {
        "phase4-public-pilot-run-plan-v1.json",
        "token-efficiency-protocol-v2.json",
    },
}


@pytest.fixture(scope="module")
def folder(conformance_data: Path) -> Path:
    return conformance_data / "docbridge"


@pytest.fixture(scope="module")
def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def suites(contents: dict[str, bytes]) -> dict[str, SuiteSpec]:
    assert FORMAT.parse_suite is not None
    upload = FORMAT.parse_suite(Files.of(contents))
    return {suite.slug: suite for suite in upload.suites}


@pytest.fixture(scope="module")
def pilot(suites: dict[str, SuiteSpec]) -> SuiteSpec:
    return suites["phase4-public-pilot-task-suite"]


def parse_run(contents: dict[str, bytes], suite: SuiteSpec | None) -> RunUpload:
    assert FORMAT.parse_run is not None
    return FORMAT.parse_run(Files.of(contents), suite)


def test_every_case_of_the_oracle_agrees(folder: Path) -> None:
    tallies = run_format(folder)
    differing = {name: tally.reasons for name, tally in tallies.items() if tally.reasons}
    assert not differing
    assert sum(tally.cases for tally in tallies.values()) >= 500


def test_every_file_of_the_folder_is_imported_recognised_or_refused(
    contents: dict[str, bytes],
) -> None:
    assert FORMAT.parse_suite is not None
    upload = FORMAT.parse_suite(Files.of(contents))
    status = {report.path: str(report.status) for report in upload.files}
    assert status == {
        path: "refused"
        if path in STALE
        else "imported"
        if path in IMPORTED_AS_SUITE
        else "recognised"
        for path in contents
    }
    for report in upload.files:
        assert report.reason or report.status == "imported"
        assert report.path not in STALE or "content hash does not verify" in report.reason
    assert {suite.slug: set(suite.extra["companions"]) for suite in upload.suites} == KEPT  # type: ignore[arg-type]


def test_every_file_alone_is_read_or_refused_by_name(contents: dict[str, bytes]) -> None:
    assert FORMAT.parse_suite is not None
    for name, data in contents.items():
        files = Files.of({name: data})
        if name in IMPORTED_AS_RUN:
            (report,) = parse_run({name: data}, None).files
            assert report.status == "imported"
        elif name in STALE:
            with pytest.raises(FormatError, match=f"^{name}:[0-9]+ /contentHash: "):
                FORMAT.parse_suite(files)
        elif name not in ("oracle.json", "oracle-metrics.json") and FORMAT.claims(files):
            (report,) = FORMAT.parse_suite(files).files
            assert (report.status == "imported") == (name in IMPORTED_AS_SUITE)


def test_every_file_that_is_kept_is_written_back_without_loss(
    contents: dict[str, bytes], suites: dict[str, SuiteSpec]
) -> None:
    assert FORMAT.export_suite is not None
    for suite in suites.values():
        written = FORMAT.export_suite(suite, {})
        assert set(written) == {str(suite.extra["path"]), *KEPT[suite.slug]}
        for name, data in written.items():
            assert json.loads(data) == json.loads(contents[name])


def test_both_ledgers_are_written_back_without_loss(
    contents: dict[str, bytes], suites: dict[str, SuiteSpec]
) -> None:
    slugs = ("phase4-public-pilot-task-suite", "task-suite")
    for name, slug in zip(IMPORTED_AS_RUN, slugs, strict=True):
        upload = parse_run({name: contents[name]}, suites[slug])
        ((written, data),) = export.write_ledgers(upload.runs, upload.records()).items()
        assert (written, json.loads(data)) == (name, json.loads(contents[name]))


def test_the_pilot_in_four_shuffled_pieces_twice_is_sixteen_records(
    contents: dict[str, bytes], pilot: SuiteSpec
) -> None:
    ledger = json.loads(contents[LEDGER])
    found = list(ledger["observations"])
    random.Random(7).shuffle(found)
    head = {key: ledger[key] for key in ("type", "schemaVersion", "ledgerVersion")}
    pieces = {
        f"{round_}-piece-{number}.json": json.dumps(
            sealed({**head, "observations": found[number::4]})
        ).encode()
        for round_ in ("first", "second")
        for number in range(4)
    }
    whole = parse_run({LEDGER: contents[LEDGER]}, pilot)
    again = parse_run(pieces, pilot)
    assert len(again.runs) == 4
    assert sorted(r.content_digest for r in again.records()) == sorted(
        r.content_digest for r in whole.records()
    )


def test_the_published_outcomes_are_what_the_third_edition_gives(
    contents: dict[str, bytes], pilot: SuiteSpec
) -> None:
    scorer = scorer_of("doc_bridge_automatic", Mode.REFERENCE)
    assert scorer is not None
    assert FORMAT.view is not None
    differing: dict[int, list[tuple[str, str]]] = {2: [], 3: []}
    for record in parse_run({LEDGER: contents[LEDGER]}, pilot).records():
        task = pilot.task(record.task_id)
        assert task is not None
        view = FORMAT.view(record.raw, task)
        published = str(record.decisions[0].value)
        for edition, seen in differing.items():
            params = {**task.gradings[0].params, "edition": edition}
            outcome = str(scorer.score(view, task.key, {}, params).measures["outcome"])
            if outcome != published:
                seen.append((published, outcome))
                codes = [finding.code for finding in FORMAT.findings(view, task)]
                assert "published-outcome" in codes
    assert differing == {2: [("incomplete", "blocked")], 3: []}


def test_the_whole_matrix_has_288_executions(suites: dict[str, SuiteSpec]) -> None:
    assert FORMAT.plan is not None
    suite = suites["task-suite"]
    for mode in ("reference", "strict"):
        made = FORMAT.plan(suite, {"mode": mode})
        assert isinstance(made, dict)
        assert made["wanted"] == 288
    with pytest.raises(AcademyError, match="Unable to select a balanced execution for task 24"):
        FORMAT.plan(suite, {"sample": 48, "strategy": "balanced"})
    corrected = FORMAT.plan(suite, {"sample": 48, "strategy": "balanced", "mode": "strict"})
    assert isinstance(corrected, dict)
    assert corrected["wanted"] == 48


def test_a_pilot_says_so(suites: dict[str, SuiteSpec], pilot: SuiteSpec) -> None:
    assert "pilot" in FORMAT.board_policies(pilot)[0].title
    assert "A pilot, never the full study" in FORMAT.board_policies(pilot)[0].note
    assert "pilot" not in FORMAT.board_policies(suites["task-suite"])[0].title


def test_the_report_on_stored_records_is_that_on_the_ledger(
    folder: Path, contents: dict[str, bytes], pilot: SuiteSpec
) -> None:
    assert FORMAT.report is not None
    oracle = json.loads((folder / "oracle-metrics.json").read_text("utf-8"))
    records = parse_run({LEDGER: contents[LEDGER]}, pilot).records()
    # Sums of floats depend on the order, so the order of the ledger is part of the report.
    ordered = sorted(records, key=lambda record: json.loads(record.raw)["source"]["index"])
    report = FORMAT.report([record.raw for record in ordered], {})
    assert isinstance(report, dict)
    assert report["contentHash"] == oracle["pilotLedger"]["contentHash"]
    with pytest.raises(AcademyError, match="no option 'round'"):
        FORMAT.report([], {"round": "one"})
