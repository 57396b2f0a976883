"""Every real file ends as imported, recognised or refused, as the checked-in list says, and comes
back from the database without loss."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from academy import exporting, intake, registry
from academy.errors import AcademyError
from academy.formats.reading import Files
from academy.importing import ImportOptions
from academy.models import Run, SuiteVersion
from academy.recording import RecordingOptions
from tests import factories as make
from tests.academy.test_formats import values_of
from tests.conformance.real_files import LIST, UNITS, Fate, import_unit, outside

pytestmark = [pytest.mark.django_db, pytest.mark.data]
WRITES = os.environ.get("ACADEMY_WRITE") == "1"


def stored_list() -> dict[str, Any]:
    """The list as it is checked in."""
    found: dict[str, Any] = json.loads(LIST.read_text("utf-8")) if LIST.exists() else {}
    return found


@pytest.mark.parametrize("unit", UNITS)
def test_every_real_file_ends_as_the_list_says_and_comes_back_without_loss(
    conformance_data: Path, unit: str
) -> None:
    fate = import_unit(conformance_data, unit)
    rows = fate.rows()
    on_disk = {
        path.relative_to(conformance_data / unit).as_posix()
        for path in (conformance_data / unit).rglob("*")
        if path.is_file()
    }
    assert set(rows) == on_disk
    assert all(row[0] == "imported" or row[1] for row in rows.values())
    if WRITES:
        text = json.dumps({**stored_list(), unit: rows}, indent=1, ensure_ascii=False)
        LIST.write_text(f"{text}\n", "utf-8")
    assert rows == stored_list()[unit]
    imported = {path for path, row in rows.items() if row[0] == "imported"}
    assert imported <= came_back(fate, read(conformance_data / unit))


def test_every_real_file_is_in_a_unit_or_is_no_data(conformance_data: Path) -> None:
    left = outside(conformance_data)
    allowed = ("PROVENANCE.md", "LICENSE.upstream.txt", "oracle.json", "reference.json")
    assert all(name.endswith(allowed) for name in left), left
    assert sorted(stored_list()) == sorted(UNITS)


def stored(fate: Fate) -> tuple[list[SuiteVersion], list[Run]]:
    """The versions and runs that a unit gave."""
    versions = [one.pk for report in fate.suites for one in report.suites]
    runs = [one.run for report in fate.runs for one in report.runs]
    return (
        list(SuiteVersion.objects.filter(pk__in=versions).select_related("suite").order_by("pk")),
        list(Run.objects.filter(pk__in=runs).select_related("version__suite").order_by("pk")),
    )


def read(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def came_back(fate: Fate, originals: dict[str, bytes]) -> set[str]:
    """The original files that exports hold; these are known again and change nothing."""
    versions, runs = stored(fate)
    found: set[str] = set()
    for version in versions:
        export = exporting.export_suite(version, with_keys=True)
        found |= same_files(export.files, originals)
        before = make.whole_database()
        again = intake.import_suite_files(
            Files.of(dict(export.files)),
            digest="0" * 64,
            fmt=registry.format_of(version.suite.format),
            options=ImportOptions(publish=True),
        )
        outcomes = {one.pk: one.outcome for one in again.suites}
        assert outcomes[version.pk] == "unchanged"
        assert make.changed_tables(before) == []
    done: set[int] = set()
    for run in runs:
        if run.pk in done:
            continue
        named = {(part.suite.slug, part.suite.version) for part in exporting.parts_of_upload(run)}
        export = exporting.export_upload(run)
        found |= same_files(export.files, originals)
        before = make.whole_database()
        again_runs = intake.import_run_files(
            Files.of(dict(export.files)),
            digest="0" * 64,
            fmt=registry.format_of(run.form),
            options=RecordingOptions(version=run.version if len(named) == 1 else None),
        )
        assert {one.outcome for one in again_runs.runs} == {"unchanged"}
        assert run.pk in {one.run for one in again_runs.runs}
        done |= {one.run for one in again_runs.runs if one.run}
        assert make.changed_tables(before) == []
    return found


def same_files(written: Any, originals: dict[str, bytes]) -> set[str]:
    """The original paths whose values were written; anything else that is written is a loss."""
    found = set()
    for name, data in written.items():
        if name in originals:
            assert values_of(name, data) == values_of(name, originals[name]), name
            found.add(name)
            continue
        twins = [
            path
            for path, held in originals.items()
            if Path(path).suffix == Path(name).suffix
            and len(held) > 2
            and values_of(name, data) == values_of(path, held)
        ]
        assert twins, name
        found |= set(twins)
    return found


SINGLE = {
    "docbridge": ("docbridge/task-suite-v1.json", "task-suite@v1"),
    "eee": ("eee/aggregates/loose", None),
    "mypcbench": ("mypcbench/tasks/smoke", None),
    "neckbeard": ("neckbeard/fixtures", None),
    "skill_evals": ("neckbeard/evals/evals.json", None),
    "opentakeoff": ("opentakeoff/tasks/div9", None),
}


@pytest.mark.parametrize("name", SINGLE)
def test_a_folder_a_zip_and_a_file_are_imported_by_command(
    conformance_data: Path, tmp_path: Path, name: str
) -> None:
    source = conformance_data / SINGLE[name][0]
    if source.is_file():
        folder = tmp_path / "folder"
        folder.mkdir()
        shutil.copy(source, folder)
        single = source
    else:
        folder, single = source, None
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", folder))
    from_folder = intake.import_suite_path(folder, options=ImportOptions(publish=True))
    assert {one.outcome for one in from_folder.suites} == {"created"}
    for path in (archive, *([single] if single else [])):
        again = intake.import_suite_path(path, options=ImportOptions())
        assert {one.outcome for one in again.suites} == {"unchanged"}
        assert [one.digest for one in again.suites] == [one.digest for one in from_folder.suites]


def test_a_file_that_is_no_suite_alone_says_so(conformance_data: Path) -> None:
    with pytest.raises(AcademyError):
        intake.import_suite_path(
            conformance_data / "docbridge/run-plan-v1.json", options=ImportOptions()
        )


@pytest.mark.parametrize("name", SINGLE)
def test_the_page_imports_what_the_command_imports(
    conformance_data: Path, tmp_path: Path, client: Client, name: str
) -> None:
    source = conformance_data / SINGLE[name][0]
    if source.is_dir():
        source = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", source))
    client.force_login(make.person("curator", "curator"))
    address = reverse("admin:academy_suite_import")
    with source.open("rb") as stream:
        shown = client.post(address, {"upload": stream, "format": "", "name": ""})
    assert shown.status_code == 200
    assert not SuiteVersion.objects.exists()
    dry = shown.context["report"]
    confirmed = client.post(
        address,
        {"token": shown.context["token"], "format": shown.context["chosen_format"], "name": ""},
    )
    assert confirmed.status_code == 302
    by_page = {str(version): version.digest for version in SuiteVersion.objects.all()}
    assert set(by_page) == {f"{one.suite}@{one.version}" for one in dry.suites}
    again = intake.import_suite_path(source, options=ImportOptions())
    assert {one.outcome for one in again.suites} == {"unchanged"}
    assert {one.digest for one in again.suites} == set(by_page.values())
