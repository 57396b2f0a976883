"""Finds the plug-ins: every format and scorer, and the format whose files these are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from academy import formats, scorers
from academy.bundle import JSON, RecordView, TaskSpec
from academy.errors import AcademyError
from academy.formats.base import Format
from academy.formats.reading import Files
from academy.scorers.base import Mode, Scorer


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format by key, in order of keys. Raises AcademyError for a broken plug-in."""
    found: dict[str, Format] = {}
    for module in pkgutil.iter_modules(formats.__path__):
        if not module.ispkg:
            continue
        plugin = getattr(importlib.import_module(f"academy.formats.{module.name}"), "FORMAT", None)
        if not isinstance(plugin, Format) or plugin.key != module.name:
            raise AcademyError(
                f"academy/formats/{module.name} must define FORMAT with the key {module.name!r}."
            )
        found[plugin.key] = plugin
    return MappingProxyType(dict(sorted(found.items())))


@cache
def all_scorers() -> Mapping[tuple[str, Mode], Scorer]:
    """Every scorer by key and mode. Raises AcademyError when two claim the same place."""
    named = [
        scorer
        for module in pkgutil.iter_modules(scorers.__path__)
        for scorer in getattr(
            importlib.import_module(f"academy.scorers.{module.name}"), "SCORERS", ()
        )
    ]
    named += [scorer for fmt in all_formats().values() for scorer in fmt.scorers]
    found: dict[tuple[str, Mode], Scorer] = {}
    for scorer in named:
        place = (scorer.key, scorer.mode)
        if place in found:
            raise AcademyError(f"Two scorers are named {scorer.key!r} in mode {scorer.mode}.")
        found[place] = scorer
    return MappingProxyType(found)


@cache
def all_schemas() -> Mapping[str, JSON]:
    """Every JSON Schema that a format publishes, by name."""
    return MappingProxyType(
        {
            name: schema
            for fmt in all_formats().values()
            for name, schema in sorted(fmt.schemas().items())
        }
    )


def format_of(key: str) -> Format:
    """The format of that key. Raises AcademyError that lists the known ones."""
    try:
        return all_formats()[key]
    except KeyError:
        known = ", ".join(all_formats())
        raise AcademyError(f"There is no format {key!r}; known are {known}.") from None


def open_record(form: str, raw: bytes, task: TaskSpec | None) -> RecordView:
    """A record in its own form as scorers and pages see it. AcademyError if the form has none."""
    view = format_of(form).view
    if view is None:
        raise AcademyError(f"The format {form!r} has no records of its own.")
    return view(raw, task)


def score_forms() -> Mapping[str, Format]:
    """The formats in which scored runs of every format can be exported, by key."""
    found = {key: fmt for key, fmt in all_formats().items() if fmt.export_scores is not None}
    return MappingProxyType(found)


def scorer_of(key: str, mode: Mode) -> Scorer | None:
    """The scorer of that key in that mode, if there is one."""
    return all_scorers().get((key, mode))


def detect(files: Files, *, run: bool = False) -> Format:
    """The one format that claims these files. Raises AcademyError that lists the candidates."""
    claiming = [
        fmt
        for fmt in all_formats().values()
        if (fmt.claims_run(files) if run else fmt.claims(files))
    ]
    if len(claiming) == 1:
        return claiming[0]
    what = "runs" if run else "suites"
    if not claiming:
        known = ", ".join(all_formats())
        raise AcademyError(f"No format recognises these files as {what}. Known formats: {known}.")
    named = ", ".join(fmt.key for fmt in claiming)
    raise AcademyError(f"More than one format recognises these files: {named}. Name one.")
