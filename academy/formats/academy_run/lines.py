"""One line to a header or a record, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from academy.bundle import (
    JSON,
    DecisionSpec,
    EntrantSpec,
    RecordSpec,
    RecordStatus,
    ReportedSpec,
    RunSpec,
    SuiteRef,
)
from academy.canonical import digest
from academy.formats.reading import Line

VERDICTS = ("decisions", "scores")
USAGE = ("steps", "wall_ms", "tokens_in", "tokens_out")


def is_instant(text: str) -> bool:
    """Whether a time that has the right form also exists."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def run_of(header: Mapping[str, Any], *, path: str) -> RunSpec:
    """The run of a header, which `extra` keeps as it is, with its path, for a lossless export."""
    slug, _, version = header.get("suite", "").partition("@")
    entrant = header["entrant"]
    return RunSpec(
        entrant=EntrantSpec(
            name=entrant["name"],
            model=entrant.get("model", ""),
            developer=entrant.get("developer", ""),
            harness=entrant.get("harness", ""),
            settings=entrant.get("settings", {}),
            aliases=tuple(entrant.get("aliases", ())),
            weights=entrant.get("weights", ""),
        ),
        external_id=header.get("run_id", ""),
        suite=SuiteRef(slug=slug, version=version, digest=header.get("suite_digest", "")),
        arm=header.get("arm", ""),
        scenario=header.get("scenario", ""),
        started_at=header.get("started_at", ""),
        limits=header.get("limits", {}),
        results=MappingProxyType(
            {metric: float(value) for metric, value in header.get("results", {}).items()}
        ),
        closed=header.get("closed", True),
        extra={"header": header, "path": path},
    )


def record_of(line: Line, value: Mapping[str, Any], *, run: int, path: str) -> RecordSpec:
    """The record that a line describes."""
    usage = value.get("usage", {})
    counts = {name: int(usage[name]) for name in USAGE if name in usage}
    cost = usage.get("cost")
    return RecordSpec(
        task_id=value["task"],
        raw=line.raw.strip(b" \t\r"),
        run=run,
        replicate=int(value.get("replicate", 1)),
        variant=int(value.get("variant", 0)),
        status=RecordStatus(value["status"]),
        cost=None if cost is None else float(cost),
        reported=tuple(reported_of(value, line.number)),
        decisions=tuple(decisions_of(value)),
        content_digest=digest({key: value[key] for key in value if key not in VERDICTS}),
        file=path,
        line=line.number,
        **counts,
    )


def reported_of(value: Mapping[str, Any], line: int) -> Iterator[ReportedSpec]:
    """The scores that came with a line."""
    for score in value.get("scores", ()):
        number = score["value"]
        yield ReportedSpec(
            metric=score["metric"],
            value=None if number is None else float(number),
            correct=score.get("correct"),
            line=line,
            note=score.get("note", ""),
        )


def decisions_of(value: Mapping[str, Any]) -> Iterator[DecisionSpec]:
    """The verdicts that came with a line."""
    for decision in value.get("decisions", ()):
        confidence = decision.get("confidence")
        yield DecisionSpec(
            criterion=decision["criterion"],
            value=decision.get("value"),
            state=decision.get("state", "value"),
            source=decision["source"],
            author=decision["author"],
            author_version=decision.get("author_version", ""),
            author_digest=decision.get("author_digest", ""),
            reason=decision.get("reason", ""),
            confidence=None if confidence is None else float(confidence),
        )


def texts_of(value: JSON, *parts: str | int) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Every text in a value, keys too, with the way to it."""
    if isinstance(value, str):
        yield value, parts
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key, (*parts, key)
            yield from texts_of(item, *parts, key)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from texts_of(item, *parts, place)
