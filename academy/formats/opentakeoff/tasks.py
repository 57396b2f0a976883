"""One task file as a task of the registry: gradings, key, attributes, and what is odd about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from academy.bundle import JSON, AssetSpec, Grading, TaskSpec
from academy.errors import Problems, ScoringError
from academy.formats.opentakeoff.checking import read_checked
from academy.formats.opentakeoff.drawings import find_drawing
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.opentakeoff.metrics import COMPETENCY_OF, METRIC_OF, grading_of
from academy.formats.reading import Files, line_of
from academy.scorers import percent_error, set_f1

SUFFIX = ".task.json"
TRUTH = "groundTruth"
SEALED_OR_SHOWN_APART = ("title", "prompt", TRUTH)
SCORER_CHECKS = {percent_error.KEY: percent_error.check, set_f1.KEY: set_f1.check}


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A task file that could be read."""

    path: PurePosixPath
    data: bytes
    document: Mapping[str, JSON]

    @property
    def task_id(self) -> str:
        """The task's own id."""
        return str(self.document["taskId"])

    @property
    def suite(self) -> tuple[str, str]:
        """Id and version of the suite the task says it belongs to."""
        suite = mapping(self.document.get("suite"))
        return str(suite["id"]), str(suite["version"])

    def line(self, pointer: str) -> int | None:
        """The line of a value."""
        return line_of(self.data, pointer)


def read_task_file(path: PurePosixPath, files: Files, problems: Problems) -> TaskFile | None:
    """Read and check one task file; None when it breaks the schema."""
    read = read_checked("task", path, files, problems)
    return TaskFile(path, read.data, read.document) if read and read.is_sound(problems) else None


def grading_for(document: Mapping[str, JSON]) -> Grading:
    """How a task is scored."""
    metric = mapping(document.get("metric"))
    return grading_of(str(metric["type"]), metric.get("tolerance"))


def truth_state(document: Mapping[str, JSON]) -> str:
    """Whether a task file has its key: "present", "null" or "absent"."""
    if TRUTH not in document:
        return "absent"
    return "null" if document[TRUTH] is None else "present"


def spec_of(document: Mapping[str, JSON], *, source: str = "", asset: AssetSpec) -> TaskSpec:
    """The task's values; nothing is checked.

    `context` is the document without title, prompt and key, so that it is what an agent may see
    and, with those three, the whole document again.
    """
    metric = str(mapping(document.get("metric"))["type"])
    kind = str(document.get("kind") or "")
    planset = mapping(document.get("planset"))
    return TaskSpec(
        external_id=str(document["taskId"]),
        title=str(document["title"]),
        prompt=str(document["prompt"]),
        kind=kind,
        context={
            name: value for name, value in document.items() if name not in SEALED_OR_SHOWN_APART
        },
        gradings=(grading_for(document),),
        key=document.get(TRUTH),
        attributes={
            "track": document["track"],
            "competency": kind or COMPETENCY_OF[metric],
            "metric": metric,
            "drawing": str(planset["assetHash"])[:16],
            "units": planset.get("units", "imperial"),
        },
        assets=(asset,),
        extra={"ground_truth": truth_state(document)},
        source=source,
    )


def task_spec(task: TaskFile, files: Files, problems: Problems) -> TaskSpec:
    """The task's values, with its drawing looked up and everything odd about it reported."""
    asset = find_drawing(
        task.document, path=task.path, data=task.data, files=files, problems=problems
    )
    spec = spec_of(task.document, source=str(task.path), asset=asset)
    check_grading(task, spec, problems)
    check_kind(task, spec, problems)
    return spec


def check_grading(task: TaskFile, spec: TaskSpec, problems: Problems) -> None:
    """Refuse gradings that could never score, and tell what strict mode makes of a tolerance."""
    grading = spec.gradings[0]
    try:
        SCORER_CHECKS[grading.scorer](spec.key, grading.params)
    except ScoringError as error:
        problems.error(
            str(task.path), "grading", str(error), line=task.line("/metric"), pointer="/metric"
        )
    usual = "fraction" if grading.metric == "scope-f1" else "percent"
    if grading.params["pass_mark_unit"] != usual:
        pointer = "/metric/tolerance"
        problems.warn(
            str(task.path),
            "tolerance-unit",
            f"the tolerance {grading.params['pass_mark']} names no unit: the original compares it"
            f" with the score, a {usual}, as it stands; strict mode reads it as a"
            f" {grading.params['pass_mark_unit']}",
            line=task.line(pointer),
            pointer=pointer,
        )


def check_kind(task: TaskFile, spec: TaskSpec, problems: Problems) -> None:
    """Tell when competency and metric are not a usual pair."""
    metric = spec.gradings[0].metric
    if spec.kind and METRIC_OF[spec.kind] != metric:
        problems.warn(
            str(task.path),
            "kind-and-metric",
            f"a task of the kind {spec.kind} is usually scored by {METRIC_OF[spec.kind]},"
            f" this one by {metric}",
            line=task.line("/metric/type"),
            pointer="/metric/type",
        )
