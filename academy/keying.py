"""Answer keys in revisions: each with a salt and commitment of its own, none ever edited."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from academy import auditing, confirming, passes, registry, specs, work
from academy.bundle import JSON, FileReport, FileStatus
from academy.commitments import key_commitment
from academy.errors import AcademyError, Problem, Problems
from academy.formats.reading import Files
from academy.models import AnswerKey, ScoringPass, SuiteVersion, Task
from academy.scorers.base import Mode
from academy.storing import plain
from academy.uploads import open_upload


@dataclass(frozen=True, slots=True)
class KeyOutcome:
    """What became of the key of one task: new, revised or unchanged."""

    task: str
    outcome: str
    revision: int
    commitment: str

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values; never the key."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyReport:
    """All that the loading of keys did, or in a dry run would do."""

    version: str
    keys: tuple[KeyOutcome, ...]
    missing: tuple[str, ...]
    scoring_pass: ScoringPass | None
    files: tuple[FileReport, ...] = ()
    notices: tuple[Problem, ...] = ()
    agreement: Mapping[str, JSON] | None = None
    to_confirm: tuple[str, ...] = ()
    dry_run: bool = False

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        made = self.scoring_pass
        return {
            "ok": True,
            "version": self.version,
            "dry_run": self.dry_run,
            "keys": [key.as_json() for key in self.keys],
            "missing": list(self.missing),
            "pass": None if made is None else {"number": made.number, "state": made.state},
            "agreement": dict(self.agreement or {}),
            "to_confirm": list(self.to_confirm),
            "files": [
                {"path": f.path, "status": str(f.status), "reason": f.reason} for f in self.files
            ],
            "findings": [notice.as_row() for notice in self.notices],
        }


@work.owing()
def revise(
    version: SuiteVersion, contents: Mapping[str, JSON], *, reason: str, by: Any = None
) -> KeyReport:
    """Give tasks new keys by external id. The same content again changes nothing.

    A draft is scored by them at once; on a published version they stage a pass. Raises
    AcademyError for unknown tasks, for a key that a scorer could not use, and without a reason.
    """
    if not reason.strip():
        raise AcademyError("A new key needs a reason.")
    locked = (
        SuiteVersion.objects.select_for_update(of=("self",))
        .select_related("suite")
        .get(pk=version.pk)
    )
    if locked.state == SuiteVersion.State.RETIRED:
        raise AcademyError(f"{locked} is retired; its keys stay as they are.")
    found = {task.external_id: task for task in locked.tasks.filter(external_id__in=contents)}
    if unknown := sorted(set(contents) - found.keys()):
        raise AcademyError(f"{locked} has no task {unknown[0]!r}.")
    check_keys(found.values(), contents)
    held = specs.latest_keys(locked)
    outcomes = []
    for name, content in contents.items():
        outcomes.append(_store(found[name], content, held.get(found[name].pk), reason, by))
    changed = [outcome.task for outcome in outcomes if outcome.outcome != "unchanged"]
    made = None
    if changed:
        auditing.note(
            "keys.revise",
            f"version:{locked.pk}",
            by=by,
            reason=reason,
            commitments=[o.commitment for o in outcomes if o.outcome != "unchanged"],
        )
        more = "s" if len(changed) > 1 else ""
        made = _follow(locked, f"{len(changed)} answer key{more} revised: {reason}", by)
    return KeyReport(
        version=str(locked),
        keys=tuple(outcomes),
        missing=tuple(tasks_without_key(locked)),
        scoring_pass=made,
    )


def _follow(version: SuiteVersion, reason: str, by: Any) -> ScoringPass:
    if version.state == SuiteVersion.State.DRAFT:
        return passes.renew_draft(version, reason=reason, by=by)
    return passes.stage(version, reason=reason, by=by)


def _store(task: Task, content: JSON, held: AnswerKey | None, reason: str, by: Any) -> KeyOutcome:
    value = plain(content)
    if held is not None and held.content == value:
        return KeyOutcome(task.external_id, "unchanged", held.revision, held.commitment)
    row = sealed_key(task, value, revision=held.revision + 1 if held else 1, note=reason, by=by)
    row.save()
    outcome = "revised" if held else "new"
    return KeyOutcome(task.external_id, outcome, row.revision, row.commitment)


def sealed_key(task: Task, content: JSON, *, revision: int, note: str, by: Any = None) -> AnswerKey:
    """A key with a salt of its own and the commitment that fixes it, not stored yet."""
    salt = secrets.token_hex(32)
    return AnswerKey(
        task=task,
        revision=revision,
        content=content,
        salt=salt,
        commitment=key_commitment(salt, content),
        note=note,
        created_by=by if getattr(by, "is_authenticated", False) else None,
    )


def check_keys(tasks: Any, contents: Mapping[str, JSON]) -> None:
    """Raise FormatError for keys that a scorer of their task could not use, naming the tasks."""
    problems = Problems()
    for task in tasks:
        for grading in task.gradings:
            for mode in Mode:
                scorer = registry.scorer_of(grading["scorer"], mode)
                if scorer is None:
                    continue
                try:
                    scorer.check(contents[task.external_id], grading["params"])
                except AcademyError as error:
                    problems.error(f"task {task.external_id}", "key-without-use", str(error))
                    break
    problems.raise_if_any()


def tasks_without_key(version: SuiteVersion) -> list[str]:
    """The tasks of a version that a scorer needs a key for and that have none."""
    keyless = version.tasks.filter(keys=None).exclude(gradings=[]).order_by("ordinal")
    return [task.external_id for task in keyless if needs_key(task.gradings)]


def needs_key(gradings: Any) -> bool:
    """Whether some scorer of a task goes by a key, and not by criteria that somebody decides."""
    return any(
        not scorer.needs_decisions
        for grading in gradings
        for mode in Mode
        if (scorer := registry.scorer_of(grading["scorer"], mode))
    )


def load_keys(
    version: SuiteVersion, files: Files, *, reason: str = "", by: Any = None, dry_run: bool = False
) -> KeyReport:
    """Load held-out keys by the version's format. Keys of tasks of other suites are left out.

    A key that is the consensus of several raters is told with their agreement; nothing that rests
    on it is published before a person confirms it. Raises AcademyError when nothing fits.
    """
    fmt = registry.format_of(version.suite.format)
    if fmt.read_keys is None:
        raise AcademyError(f"The format {fmt.key} has no held-out answer keys.")
    upload = fmt.read_keys(files)
    known = set(version.tasks.values_list("external_id", flat=True))
    fitting = {name: key for name, key in upload.keys.items() if name in known}
    if not fitting:
        named = ", ".join(list(upload.keys)[:5])
        raise AcademyError(f"None of these keys is of a task of {version}; they are of {named}.")
    with work.owing():
        report = revise(version, fitting, reason=reason or "held-out keys", by=by)
        waiting = confirming.unconfirmed(version, specs.latest_keys(version).values())
        to_confirm = tuple(sorted(key.task.external_id for key in waiting))
        if dry_run:
            transaction.set_rollback(True)
    left_out = {upload.sources.get(name): name for name in upload.keys if name not in known}
    return KeyReport(
        version=report.version,
        keys=report.keys,
        missing=report.missing,
        scoring_pass=report.scoring_pass,
        files=tuple(_told(file, left_out, str(version)) for file in upload.files),
        notices=upload.notices,
        agreement=fmt.key_agreement(list(fitting.values())),
        to_confirm=to_confirm,
        dry_run=dry_run,
    )


def _told(file: FileReport, left_out: Mapping[str | None, str], version: str) -> FileReport:
    if file.path not in left_out:
        return file
    reason = f"task {left_out[file.path]!r} is not in {version}"
    return FileReport(file.path, FileStatus.RECOGNISED, reason)


def load_key_path(version: SuiteVersion, path: Path, **options: Any) -> KeyReport:
    """Load the held-out keys of a file, folder or zip."""
    return load_keys(version, open_upload(path).files, **options)


def agreement_of(version: SuiteVersion) -> Mapping[str, JSON]:
    """How far the people agreed who made the newest keys of a version, for curators."""
    keys: Sequence[JSON] = [key.content for key in specs.latest_keys(version).values()]
    return registry.format_of(version.suite.format).key_agreement(keys)
