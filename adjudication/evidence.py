"""The evidence beside the questions: task, answer, steps and sealed parts, with names masked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.urls import reverse

from academy import auditing, foreign, rasterising, registry, transcript_pages
from academy.blinding import blinded, count_hidden
from academy.bundle import JSON, RecordView, TaskSpec
from academy.models import Exposure, InstanceRecord, Task
from academy.transcripts import Transcript
from adjudication import opening
from adjudication.masking import Mask
from adjudication.models import ReviewItem, Seat
from adjudication.policies import read_policy
from adjudication.questions import Question

LONGEST_RAW = 65_536
RAW_OF_STEP = ("seq", "kind", "role", "title", "tool", "text", "data")


def mask_of(item: ReviewItem) -> Mask:
    """The names that would tell who made what is under review; none where nobody is blind."""
    record = opening.subject_record(item)
    if record is None or not read_policy(item.queue.policy).is_blind:
        return Mask.of(())
    return Mask.of(names_of(record))


def names_of(record: InstanceRecord) -> list[str]:
    """The names of whoever made a record."""
    entrant = record.run.entrant
    names = [entrant.name, entrant.model, entrant.developer, entrant.harness, entrant.slug]
    names += entrant.aliases.values_list("name", flat=True)
    # A model often introduces itself without the provider that stands before it, or by it alone.
    names += entrant.model.split("/")
    return names


def record_evidence(
    seat: Seat, user: Any, query: Mapping[str, str], questions: Sequence[Question], mask: Mask
) -> dict[str, Any]:
    """What is shown of a record: its task, the answer, a page of steps, what is sealed."""
    record, task, view = opening.opened(seat.item)
    url = reverse("adjudication:seat", args=[seat.pk])
    transcript = opening.transcript_of(record, task)
    sealed = sealed_parts(seat, task, record.task, user, questions)
    made = artifacts_of(view)
    return {
        **steps_of(seat.item, query, url=url, mask=mask),
        **task_context(record.task, task, sealed),
        "record": record,
        "mask": mask,
        "artifacts": made,
        "has_record": True,
        "masked": count_masked(mask, transcript, record.task, sealed, made),
    }


def steps_of(item: ReviewItem, query: Mapping[str, str], *, url: str, mask: Mask) -> dict[str, Any]:
    """One page of the transcript under review, masked; `url` is the page that shows it.

    Never the whole raw record: it holds what judges said, and who made it.
    """
    record, task, _view = opening.opened(item)
    return transcript_pages.page(
        record,
        opening.transcript_of(record, task),
        query,
        url=url,
        mask=mask or None,
        picture_url=lambda digest: f"{url}pictures/{digest}.png",
    )


def task_evidence(
    seat: Seat, user: Any, questions: Sequence[Question], task: Task, mask: Mask
) -> dict[str, Any]:
    """What is shown of a task that is itself under review."""
    spec = opening.spec_of(task)
    sealed = sealed_parts(seat, spec, task, user, questions)
    return {**task_context(task, spec, sealed), "mask": mask, "masked": 0, "has_record": False}


def task_context(task: Task, spec: TaskSpec, sealed: Mapping[str, JSON]) -> dict[str, Any]:
    """A task as the bench shows it. Parts made of rows are shown as rows, not a second time."""
    return {
        "task": task,
        "context": {
            name: readable(value)
            for name, value in registry.format_of(task.version.suite.format)
            .agent_view(spec)
            .items()
            if value and name != "prompt" and value != task.prompt
        },
        "sealed": {name: readable(value) for name, value in sealed.items() if not has_rows(value)},
        "files": rasterising.shown(task.assets.all()),
    }


def readable(value: JSON, indent: str = "") -> str:
    """A value of a suite as lines that people read: an entry a line, named where it has a name."""
    if isinstance(value, Mapping):
        lines = [
            f"{indent}{name.replace('_', ' ')}: {held_in(held, indent)}"
            for name, held in value.items()
        ]
        return "\n".join(lines)
    if isinstance(value, list | tuple):
        return "\n".join(f"{indent}{entry_of(held, indent)}" for held in value)
    return foreign.as_text(value)


def held_in(value: JSON, indent: str) -> str:
    """What a name stands for: on the same line when it is short, else below it."""
    if isinstance(value, Mapping | list | tuple) and value:
        return "\n" + readable(value, indent + "    ")
    return foreign.as_text(value)


def entry_of(value: JSON, indent: str) -> str:
    """An entry of a list; the plain parts of an object stand on one line."""
    if not isinstance(value, Mapping):
        return f"– {readable(value, indent + '    ').strip()}"
    plain = [foreign.as_text(held) for held in value.values() if not is_nested(held)]
    nested = {name: held for name, held in value.items() if is_nested(held) and held}
    line = "– " + " · ".join(part for part in plain if part)
    return line + ("\n" + readable(nested, indent + "    ") if nested else "")


def is_nested(value: JSON) -> bool:
    """Whether a value has parts."""
    return isinstance(value, Mapping | list | tuple)


def has_rows(value: JSON) -> bool:
    """Whether a sealed part is a list of rows, each with its own question."""
    return isinstance(value, Mapping) and isinstance(value.get("rows"), list | tuple)


def notes_beside(item: ReviewItem, questions: Sequence[Question]) -> dict[str, str]:
    """Notes that a sealed part which is asked for gives by criterion, to stand beside each."""
    keys = {question.key for question in questions if question.criterion is not None}
    task = opening.subject_task(item)
    if task is None or not keys:
        return {}
    seen = registry.format_of(task.version.suite.format).rater_view(opening.spec_of(task))
    needed = needed_by(questions)
    found: dict[str, str] = {}
    for part in (value for name, value in seen.items() if name in needed):
        for notes in part.values() if isinstance(part, Mapping) else ():
            if isinstance(notes, Mapping) and notes and set(notes) <= keys:
                found |= {key: foreign.as_text(note) for key, note in notes.items()}
    return found


def needed_by(questions: Sequence[Question]) -> set[str]:
    """The sealed parts that the asked criteria name."""
    asked = [question.criterion for question in questions if question.criterion is not None]
    return {need for criterion in asked for need in criterion.needs}


def sealed_parts(
    seat: Seat, task: TaskSpec, row: Task, user: Any, questions: Sequence[Question]
) -> Mapping[str, JSON]:
    """The sealed parts that the asked criteria name, and no other; showing them is noted."""
    needed = needed_by(questions)
    seen = registry.format_of(row.version.suite.format).rater_view(task)
    shown = {name: value for name, value in seen.items() if value and name in needed}
    why = f"seat:{seat.pk}"
    if shown and not Exposure.objects.filter(user=user, task=row, why=why).exists():
        auditing.expose(user, task=row, what=", ".join(sorted(shown)), why=why)
    return shown


def artifacts_of(view: RecordView) -> list[dict[str, Any]]:
    """The files that a record says it made: path, digest and whatever else it tells."""
    found = view.evidence.get("artifacts") if isinstance(view.evidence, Mapping) else None
    listed = found if isinstance(found, list | tuple) else ()
    return [
        {"name": str(one.get("path") or one.get("name") or ""), "sha256": one.get("sha256", "")}
        for one in listed
        if isinstance(one, Mapping)
    ]


def count_masked(
    mask: Mask,
    transcript: Transcript,
    task: Task,
    sealed: Mapping[str, JSON],
    artifacts: Sequence[Mapping[str, Any]],
) -> int:
    """How many places are masked in all that is shown of a record, in steps of other pages too."""
    if not mask:
        return 0
    notes = [readable(value) for value in sealed.values()]
    around = [task.title, task.prompt, transcript.view.answer, notes]
    names = [one["name"] for one in artifacts]
    return count_hidden([around, names], mask) + transcript.hidden_count(mask)


def raw_text(view: RecordView, mask: Mask) -> str:
    """Answer and steps as they are stored, without what judges or the upload said of them.

    Names are hidden before this becomes JSON, where the escape of a line end would cover one.
    """
    steps = [
        {name: value for name in RAW_OF_STEP if (value := asdict(event)[name]) not in ("", None)}
        for event in view.events
    ]
    shown = blinded({"answer": view.answer, "steps": steps}, mask or None)
    return json.dumps(shown, ensure_ascii=False, indent=1)


def raw_context(item: ReviewItem, query: Mapping[str, str]) -> dict[str, Any]:
    """The raw text of a record, masked and cut."""
    _record, _task, view = opening.opened(item)
    mask = mask_of(item)
    text = raw_text(view, mask)
    asked = query.get("chars", "")
    limit = min(int(asked[:12]), 2**31) if asked.isascii() and asked.isdigit() else LONGEST_RAW
    return {
        "text": text[:limit],
        "length": len(text),
        "rest": max(0, len(text) - limit),
        "next_chars": limit + LONGEST_RAW,
        "mask": mask,
    }
