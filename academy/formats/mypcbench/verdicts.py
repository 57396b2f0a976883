"""Judge files: verdicts as decisions, and whether they belong to the rubrics at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy.bundle import DecisionSpec, SuiteSpec
from academy.canonical import digest
from academy.errors import Problems
from academy.formats.mypcbench.attempts import (
    FULL_TRAJECTORY,
    GRADED,
    PER_STEP,
    bundle_of,
    member,
)
from academy.formats.mypcbench.judging import (
    Reply,
    grade_earlier,
    is_failed_call,
    judge_trajectory,
)
from academy.formats.mypcbench.rubrics import Rubric, rubric_of, rubrics_of, unique_keys
from academy.formats.reading import check_text, pointer

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """The rubrics that verdicts must belong to: those of the suite, else those of the bundle."""

    keys: tuple[str, ...]
    rubrics: tuple[Rubric, ...]


def wanted_rubrics(
    document: Mapping[str, Any], task_id: str, suite: SuiteSpec | None
) -> Wanted | None:
    """The rubrics of an attempt, or None where neither suite nor bundle says them."""
    task = suite.task(task_id) if suite is not None else None
    if task is not None:
        rubrics = tuple(
            Rubric(criterion.key, criterion.text.strip(), "", criterion.weight, place)
            for place, criterion in enumerate(task.criteria)
        )
        return Wanted(tuple(rubric.rubric_id for rubric in rubrics), rubrics)
    listed = member(bundle_of(document), "grading_manifest", "rubrics")
    if not isinstance(listed, list):
        return None
    rubrics = rubrics_of(listed)
    return Wanted(unique_keys(rubrics), rubrics)


def check_bundle(
    document: Mapping[str, Any],
    task_id: str,
    suite: SuiteSpec | None,
    *,
    path: str,
    problems: Problems,
) -> None:
    """Refuse a bundle of another task, or of another revision of the suite's rubrics."""
    bundle = bundle_of(document)
    if not bundle:
        return
    named = member(bundle, "task", "id")
    if named is not None and named != task_id:
        problems.error(
            path,
            "task-id-differs",
            f"The bundle is of the task {named!r}, the folder is named {task_id!r}.",
            pointer="/task/id",
        )
    task = suite.task(task_id) if suite is not None else None
    if task is None:
        return
    listed = rubrics_of(member(bundle, "grading_manifest", "rubrics"))
    given = [(rubric.text, rubric.weight) for rubric in listed]
    ours = [(criterion.text.strip(), criterion.weight) for criterion in task.criteria]
    if given != ours:
        problems.error(
            path,
            "other-revision",
            f"The rubrics of {task_id} are not those of the suite; name the version of the suite "
            "that the run was made with.",
            pointer="/grading_manifest/rubrics",
        )
    instruction = member(bundle, "task", "instruction")
    if isinstance(instruction, str) and instruction.strip() != task.prompt.strip():
        problems.warn(
            path,
            "instruction-differs",
            f"The instruction of {task_id} is not that of the suite.",
            pointer="/task/instruction",
        )


def read_verdicts(
    document: Mapping[str, Any],
    wanted: Wanted | None,
    *,
    folder: str,
    problems: Problems,
) -> tuple[DecisionSpec, ...]:
    """The verdicts of both kinds of judges. What does not fit the rubrics is noted as an error."""
    files = document["files"]
    decisions: list[DecisionSpec] = []
    for name, read in ((FULL_TRAJECTORY, full_trajectory), (PER_STEP, per_step)):
        if name in files:
            path = f"{folder}/{name}"
            if isinstance(files[name], Mapping):
                decisions += read(files[name], wanted, path, problems)
            else:
                problems.error(path, "not-an-object", "A judge's result must be an object.")
    return tuple(decisions)


def full_trajectory(
    result: Mapping[str, Any], wanted: Wanted | None, path: str, problems: Problems
) -> list[DecisionSpec]:
    """Decisions of the judge that was asked once per rubric."""
    listed = result.get("rubric_results", [])
    if not _are_objects(listed, path, "/rubric_results", problems) or not listed:
        return []
    given = [rubric_of(item, place) for place, item in enumerate(listed)]
    wanted = wanted or Wanted(unique_keys(given), tuple(given))
    if not _belongs(given, wanted, path, "/rubric_results", problems):
        return []
    config = {"judge": "full_trajectory", "max_images": result.get("max_images")}
    decisions = []
    for place, (item, key) in enumerate(zip(listed, wanted.keys, strict=True)):
        at = pointer("rubric_results", place)
        success, reasoning = item.get("success"), item.get("reasoning", "")
        if not isinstance(success, bool) or not isinstance(reasoning, str):
            problems.error(path, "verdict", "A verdict needs success: true or false.", pointer=at)
            continue
        check_text(reasoning, path=path, pointer=f"{at}/reasoning", problems=problems)
        failed = is_failed_call(reasoning)
        decisions.append(_decision(key, success, failed, reasoning, result, config))
    _check_model(result, path, problems)
    _check_score(result, given, listed, path, problems)
    return decisions


def per_step(
    result: Mapping[str, Any], wanted: Wanted | None, path: str, problems: Problems
) -> list[DecisionSpec]:
    """Decisions of the judge that was asked once per step: met if any step met it.

    A rubric that no step met is a failed call when the call of some step failed.
    """
    maxima = result.get("per_rubric_max", [])
    steps = result.get("per_step_scores", [])
    if not _are_objects(steps, path, "/per_step_scores", problems):
        return []
    if not isinstance(maxima, list) or any(value not in (0, 1) for value in maxima):
        problems.error(
            path, "verdict", "The maxima must be 0 or 1 for each rubric.", pointer="/per_rubric_max"
        )
        return []
    given = rubrics_of(result.get("rubrics", []))
    wanted = wanted or Wanted(unique_keys(given), given)
    if not steps:
        return []
    if given and not _belongs(given, wanted, path, "/rubrics", problems):
        return []
    if len(maxima) != len(wanted.keys):
        problems.error(
            path,
            "rubrics-differ",
            f"There are {len(maxima)} verdicts for {len(wanted.keys)} rubrics.",
            pointer="/per_rubric_max",
        )
        return []
    _check_model(result, path, problems)
    failed = sum(bool(step.get("error")) for step in steps)
    config = {"judge": "per_step", "steps_scored": result.get("n_steps_scored")}
    decisions = []
    for place, (key, value) in enumerate(zip(wanted.keys, maxima, strict=True)):
        met_at = [step.get("step_num") for step in steps if _scored(step, place)]
        reason = f"met at step {', '.join(map(str, met_at))}" if met_at else "met at no step"
        if failed:
            reason += f"; {failed} of {len(steps)} calls failed"
        call_error = not value and failed > 0
        decisions.append(_decision(key, bool(value), call_error, reason, result, config))
    return decisions


def _scored(step: Mapping[str, Any], place: int) -> bool:
    scores = step.get("scores")
    return isinstance(scores, list) and place < len(scores) and bool(scores[place])


def _decision(
    key: str,
    met: bool,
    failed: bool,
    reason: str,
    result: Mapping[str, Any],
    config: Mapping[str, Any],
) -> DecisionSpec:
    return DecisionSpec(
        criterion=key,
        value=None if failed else met,
        state="call_error" if failed else "value",
        source="judge",
        author=str(result.get("model") or "unnamed judge"),
        author_version=str(config["judge"]),
        author_digest=digest({"model": result.get("model"), **config}),
        reason=reason,
    )


def _are_objects(value: object, path: str, at: str, problems: Problems) -> bool:
    fine = isinstance(value, list) and all(isinstance(item, Mapping) for item in value)
    if not fine:
        problems.error(path, "not-a-list", "Here must be a list of objects.", pointer=at)
    return fine


def _belongs(
    given: Sequence[Rubric], wanted: Wanted, path: str, at: str, problems: Problems
) -> bool:
    """Whether verdicts were given on the rubrics at hand, in their order."""
    same_texts = [rubric.text for rubric in given] == [rubric.text for rubric in wanted.rubrics]
    if not same_texts:
        problems.error(
            path,
            "rubrics-differ",
            "The verdicts are on other rubrics than those of the task, or in another order.",
            pointer=at,
        )
    return same_texts


def _check_model(result: Mapping[str, Any], path: str, problems: Problems) -> None:
    model = result.get("model", "")
    if not isinstance(model, str) or len(model) > LONGEST_NAME:
        problems.error(
            path,
            "judge-name",
            f"The judge's model must be text of at most {LONGEST_NAME} characters.",
            pointer="/model",
        )
    else:
        check_text(model, path=path, pointer="/model", problems=problems)


def _check_score(
    result: Mapping[str, Any],
    given: Sequence[Rubric],
    listed: Sequence[Mapping[str, Any]],
    path: str,
    problems: Problems,
) -> None:
    """Warn when the judge's own score is not what its verdicts come to."""
    replies = [Reply(item.get("success") is True, "") for item in listed]
    made = judge_trajectory(given, replies, steps=1, screenshots=0)
    if "score" in result and result["score"] != made.percent:
        problems.warn(
            path,
            "score-differs",
            f"The judge wrote the score {result['score']!r}; its verdicts give {made.percent}.",
            pointer="/score",
        )


def judge_failure(document: Mapping[str, Any]) -> str:
    """How the judge failed as a whole, by the grader's file, or ""."""
    if GRADED not in document["files"]:
        return ""
    row = grade_earlier("", document["files"][GRADED])
    if row.status != "judge_error":
        return ""
    if isinstance(row.raw, list) and len(row.raw) > 1:
        return str(row.raw[1])
    return "no readable result"
