"""Builders of small suites, runs, verdicts and people, stored by the real services."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.db import connection

from academy import intake, work
from academy.formats.reading import Files
from academy.importing import ImportOptions, ImportReport
from academy.models import Membership, Organization, Run, SuiteVersion
from academy.recording import RecordingOptions, RecordingReport
from tests.academy.formats import mypcbench_making as rubrics
from tests.academy.formats import opentakeoff_examples as takeoff

User = get_user_model()
PASSWORD = "not-a-secret-of-anybody"
numbers = itertools.count(1)


def as_files(contents: Mapping[str, Any]) -> Files:
    """Files by path: bytes and text as they are, lists under .jsonl as lines, the rest as JSON."""
    return rubrics.files_of(contents)


def digest_of(files: Files) -> str:
    """A digest that is the same for the same files."""
    whole = hashlib.sha256()
    for path in files:
        whole.update(f"{path}\n{hashlib.sha256(files[path]).hexdigest()}\n".encode())
    return whole.hexdigest()


def sha256(data: bytes) -> str:
    """The digest of some bytes."""
    return hashlib.sha256(data).hexdigest()


def import_files(contents: Mapping[str, Any] | Files, **options: Any) -> ImportReport:
    """Import the suites of some files."""
    files = contents if isinstance(contents, Files) else as_files(contents)
    return intake.import_suite_files(
        files, digest=digest_of(files), fmt=None, options=ImportOptions(**options)
    )


def record_files(
    contents: Mapping[str, Any] | Files, version: SuiteVersion | None = None, **options: Any
) -> RecordingReport:
    """Import the runs of some files."""
    files = contents if isinstance(contents, Files) else as_files(contents)
    return intake.import_run_files(
        files,
        digest=digest_of(files),
        fmt=None,
        options=RecordingOptions(version=version, **options),
    )


def version_of(report: ImportReport, place: int = 0) -> SuiteVersion:
    """The stored version that an import made."""
    return SuiteVersion.objects.select_related("suite").get(pk=report.suites[place].pk)


def takeoff_task(
    task_id: str, value: float = 240, *, slug: str = "example", version: str = "1.0", **changes: Any
) -> dict[str, Any]:
    """A task that asks for one area; None takes a key away."""
    key = {"quantities": [{"item": task_id, "value": value, "unit": "sf"}]}
    made = takeoff.task(
        task_id,
        **{
            "title": f"Area {task_id}",
            "prompt": f"Measure {task_id}.",
            "suite": {"id": slug, "version": version},
            "groundTruth": key,
            **changes,
        },
    )
    return {name: held for name, held in made.items() if held is not None}


def takeoff_files(
    tasks: int | Sequence[dict[str, Any]] = 3,
    *,
    slug: str = "example",
    version: str = "1.0",
    mode: str = "ranked",
    **changes: Any,
) -> dict[str, Any]:
    """The folder of a takeoff suite; a number of tasks stands for t-0, t-1, … with areas of 100."""
    listed = (
        [takeoff_task(f"t-{place}", 100, slug=slug, version=version) for place in range(tasks)]
        if isinstance(tasks, int)
        else list(tasks)
    )
    manifest = takeoff.manifest(
        **{"id": slug, "version": version, "mode": mode, "title": f"Example {slug}", **changes}
    )
    named = {f"{place}.task.json": task for place, task in enumerate(listed)}
    return {"suite.json": manifest, **named}


def takeoff_version(
    tasks: int | Sequence[dict[str, Any]] = 3,
    *,
    slug: str = "example",
    publish: bool = True,
    **changes: Any,
) -> SuiteVersion:
    """A takeoff version, published unless said otherwise."""
    return version_of(import_files(takeoff_files(tasks, slug=slug, **changes), publish=publish))


def sealed_files(tasks: int = 3, *, slug: str = "sealed", value: float = 100) -> dict[str, Any]:
    """A ranked takeoff suite whose keys lie apart from its tasks."""
    listed = [takeoff_task(f"t-{place}", slug=slug, groundTruth=None) for place in range(tasks)]
    keys = {
        f"keys/t-{place}.groundtruth.json": {
            "taskId": f"t-{place}",
            "quantities": [{"item": f"t-{place}", "value": value, "unit": "sf"}],
        }
        for place in range(tasks)
    }
    return {**takeoff_files(listed, slug=slug, keys="withheld"), **keys}


def sealed_version(tasks: int = 3, *, slug: str = "sealed", publish: bool = True) -> SuiteVersion:
    """A sealed takeoff version."""
    return version_of(import_files(sealed_files(tasks, slug=slug), publish=publish))


def answer(task_id: str, value: float = 100, *, unit: str = "sf") -> dict[str, Any]:
    """The answer of one area."""
    return {"quantities": [{"item": task_id, "value": value, "unit": unit}]}


def bundle(version: SuiteVersion, values: Mapping[str, float], **changes: Any) -> dict[str, Any]:
    """A run bundle that answers tasks with areas."""
    entries = [
        takeoff.entry(task_id, takeoff.quantity(value, task_id))
        for task_id, value in values.items()
    ]
    name = changes.pop("name", "Example")
    said = {"id": version.suite.slug, "version": version.name, "mode": version.mode}
    return takeoff.bundle(
        *entries,
        **{
            "runId": f"run_example-{next(numbers):06d}",
            "suite": said,
            "contestant": {"name": name, "modelId": "example-model", "adapter": "mcp"},
            **changes,
        },
    )


def takeoff_run(
    version: SuiteVersion, values: Mapping[str, float] | None = None, **changes: Any
) -> Run:
    """A stored run of a bundle; without values every task is answered by 100."""
    if values is None:
        ids = version.tasks.order_by("ordinal").values_list("external_id", flat=True)
        values = dict.fromkeys(ids, 100.0)
    options = {name: changes.pop(name) for name in ("kind", "account") if name in changes}
    document = bundle(version, values, **changes)
    return run_of(record_files({"run.bundle.json": document}, version, **options))


def run_of(report: RecordingReport, place: int = 0) -> Run:
    """The stored run that an import made."""
    return Run.objects.select_related("entrant", "version__suite").get(pk=report.runs[place].run)


def header(**changes: Any) -> dict[str, Any]:
    """The first line of a run in the project's own form; None takes a key away."""
    made = {
        "academy_run": "1.0",
        "suite": "example@1.0",
        "run_id": "r-1",
        "entrant": {"name": "Example"},
        **changes,
    }
    return {name: held for name, held in made.items() if held is not None}


def execution(task_id: str, value: float | None = 100, **changes: Any) -> dict[str, Any]:
    """A line of a run that answers one area, or has no answer."""
    if value is None:
        return {"task": task_id, "status": "missing", **changes}
    return {"task": task_id, "status": "answered", "answer": answer(task_id, value), **changes}


def line_run(*executions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The file of a run in the project's own form."""
    return {"run.jsonl": [header(**changes), *executions]}


def rubric_task(task_id: str, criteria: int = 2, **changes: Any) -> dict[str, Any]:
    """A rubric task with criteria of equal weight."""
    grading = {
        "type": "llm_judge",
        "rubrics": [
            rubrics.rubric(f"Step {number} of {task_id} is done", 1 / criteria)
            for number in range(1, criteria + 1)
        ],
    }
    return rubrics.task(task_id, **{"grading": grading, **changes})


def rubric_version(
    tasks: int = 2,
    *,
    criteria: int = 2,
    slug: str = "rubrics",
    version: str = "1",
    publish: bool = True,
) -> SuiteVersion:
    """A version of rubric tasks q-0, q-1, … published unless said otherwise."""
    listed = [rubric_task(f"q-{place}", criteria) for place in range(tasks)]
    report = import_files({rubrics.BUCKET: listed}, rename=(slug, version), publish=publish)
    return version_of(report)


def judged(task_id: str, *verdicts: bool, judge: str = "example-judge") -> dict[str, Any]:
    """A line of a run on rubrics with one verdict of a judge for each criterion."""
    decisions = [
        {"criterion": f"R{number}", "value": met, "source": "judge", "author": judge}
        for number, met in enumerate(verdicts, start=1)
    ]
    line = {"task": task_id, "status": "answered", "answer": "done", "decisions": decisions}
    return line if verdicts else {**line, "decisions": []}


def score_all(owner: str = "tests") -> int:
    """Do all work that is owed, as a worker does; gives how many units."""
    return work.drain(owner)


@cache
def hashed_password() -> str:
    """The password of everybody as it is stored; hashing it takes most of a second."""
    return make_password(PASSWORD)


def person(name: str, *roles: str, organization: Organization | None = None, **facts: Any) -> Any:
    """Somebody with an account and roles; curators are staff."""
    user = User.objects.create(
        username=name,
        password=hashed_password(),
        is_staff=facts.pop("is_staff", "curator" in roles),
        **facts,
    )
    if roles and organization is None:
        organization, _made = Organization.objects.get_or_create(
            slug="example-org", defaults={"name": "Example organisation"}
        )
    for role in roles:
        Membership.objects.create(user=user, organization=organization, role=role)
    return user


def whole_database() -> dict[str, tuple[int, str]]:
    """Number of rows and a digest of all their values, by table."""
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            cursor.execute(
                "SELECT count(*), coalesce(md5(string_agg(md5(held::text), '' "
                f"ORDER BY md5(held::text))), '') FROM \"{table}\" AS held"
            )
            count, digest = cursor.fetchone()
            found[table] = (int(count), str(digest))
    return found


def changed_tables(before: Mapping[str, tuple[int, str]]) -> list[str]:
    """The tables whose rows are not as they were."""
    after = whole_database()
    return [table for table, held in after.items() if before.get(table) != held]


def pretty(value: Any) -> str:
    """A value as JSON for messages of failing tests."""
    return json.dumps(value, indent=1, sort_keys=True, default=str)
