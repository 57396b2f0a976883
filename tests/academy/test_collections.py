"""Collections grow by tasks, and what they hold never changes."""

from __future__ import annotations

import pytest

from academy import importing, populating, specs
from academy.errors import AcademyError
from academy.models import SuiteVersion, Task
from tests import factories as make
from tests.academy.triggers import refused_by_trigger

pytestmark = pytest.mark.django_db


def collection_version(*tasks: str, publish: bool = False) -> importing.ImportReport:
    """Import an open collection by its plain values, which every format with collections gives."""
    from academy.bundle import (
        Direction,
        FileReport,
        FileStatus,
        Grading,
        MetricKind,
        MetricSpec,
        SuiteSpec,
        SuiteUpload,
        TaskSpec,
    )

    params = {
        "metric": "accuracy",
        "lower_is_better": False,
        "low": 0.0,
        "high": 1.0,
        "pass_mark": None,
    }
    spec = SuiteSpec(
        slug="river",
        title="River quiz",
        format="every_eval_ever",
        version="open",
        mode="collection",
        metrics=(
            MetricSpec(
                key="accuracy",
                label="Accuracy",
                direction=Direction.UP,
                kind=MetricKind.GRADED,
                low=0.0,
                high=1.0,
            ),
        ),
        tasks=tuple(
            TaskSpec(
                external_id=task.partition(":")[0],
                prompt=f"Question {task}",
                gradings=(Grading(metric="accuracy", scorer="reported", params=params),),
                source="rows.jsonl:1",
            )
            for task in tasks
        ),
        sources=("rows.jsonl",),
    )
    files = make.as_files({"rows.jsonl": "".join(f"{task}\n" for task in tasks)})
    upload = SuiteUpload(
        suites=(spec,), files=(FileReport("rows.jsonl", FileStatus.IMPORTED, suite="river"),)
    )
    return importing.import_suites(
        upload,
        files=files,
        source_digest=make.digest_of(files),
        options=importing.ImportOptions(publish=publish),
    )


def test_a_published_collection_grows_by_new_tasks() -> None:
    first = collection_version("a", "b", publish=True)
    second = collection_version("b", "c")
    assert second.suites[0].outcome == "extended"
    assert second.suites[0].new_tasks == 1
    assert second.suites[0].state == "published"
    version = make.version_of(first)
    assert list(version.tasks.order_by("ordinal").values_list("external_id", flat=True)) == [
        "a",
        "b",
        "c",
    ]
    assert version.digest != first.suites[0].digest


def test_a_key_of_a_task_appended_later_counts_in_the_pass_of_the_collection() -> None:
    version = make.version_of(collection_version("a", publish=True))
    collection_version("a", "b")
    appended = version.tasks.get(external_id="b")
    populating.first_key(appended, {"answer": 4}).save()
    chosen = version.passes.get(state="published")
    assert set(specs.keys_in(chosen)) == {appended.pk}
    assert set(specs.keys_in(chosen, task_ids=[appended.pk + 1])) == set()


def test_a_collection_that_gets_nothing_new_changes_nothing() -> None:
    collection_version("a", "b", publish=True)
    before = make.whole_database()
    again = collection_version("b", "a")
    assert again.suites[0].outcome == "unchanged"
    assert make.changed_tables(before) == []


def test_a_task_of_a_collection_never_changes() -> None:
    collection_version("a", "b", publish=True)
    before = make.whole_database()
    with pytest.raises(AcademyError, match="task b of river@open is known with other content"):
        collection_version("c", "b:other")
    assert make.changed_tables(before) == []
    task = Task.objects.get(external_id="b")
    refused_by_trigger("UPDATE academy_task SET prompt = 'other' WHERE id = %s", task.pk)
    refused_by_trigger("DELETE FROM academy_task WHERE id = %s", task.pk)


def test_a_frozen_collection_grows_no_more() -> None:
    report = collection_version("a", publish=True)
    SuiteVersion.objects.filter(pk=report.suites[0].pk).update(frozen_at="2026-01-01T00:00:00Z")
    before = make.whole_database()
    with pytest.raises(AcademyError, match="known with other content"):
        collection_version("a", "b")
    assert make.changed_tables(before) == []
