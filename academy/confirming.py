"""A key that was worked out from several raters counts once a person confirms it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from academy import auditing, registry, specs
from academy.bundle import JSON
from academy.errors import AcademyError
from academy.formats.base import no_consensus
from academy.models import AnswerKey, KeyConfirmation, ScoringPass, SuiteVersion
from academy.querysets import has_role

SHOWN = 10


def consensus_of(version: SuiteVersion, key: AnswerKey) -> list[Mapping[str, JSON]]:
    """The parts of a key that were worked out from several raters; for curators."""
    return list(registry.format_of(version.suite.format).key_consensus(key.content))


def may_hold_consensus(version: SuiteVersion) -> bool:
    """Whether keys of this version can come from several raters at all."""
    return registry.format_of(version.suite.format).key_consensus is not no_consensus


def unconfirmed(version: SuiteVersion, keys: Iterable[AnswerKey]) -> list[AnswerKey]:
    """The keys whose consensus nobody has confirmed yet."""
    listed = list(keys)
    confirmed = set(KeyConfirmation.objects.filter(key__in=listed).values_list("key_id", flat=True))
    return [key for key in listed if key.pk not in confirmed and consensus_of(version, key)]


def refuse_unconfirmed(version: SuiteVersion, *, scoring_pass: ScoringPass | None = None) -> None:
    """Raise AcademyError while the consensus in a key of a pass, or else in a newest key, waits
    for a person."""
    if not may_hold_consensus(version):
        return
    keys = specs.latest_keys(version) if scoring_pass is None else specs.keys_in(scoring_pass)
    waiting = unconfirmed(version, keys.values())
    if not waiting:
        return
    names = [key.task.external_id for key in waiting[:SHOWN]]
    more = f" and {len(waiting) - SHOWN} more" if len(waiting) > SHOWN else ""
    raise AcademyError(
        f"The answer keys of {', '.join(names)}{more} in {version} are a consensus of raters that "
        "nobody has confirmed; a curator confirms them on the page of the answer keys."
    )


@transaction.atomic
def confirm(keys: Iterable[AnswerKey], *, by: Any, reason: str) -> int:
    """Confirm the consensus in some keys; gives how many were not confirmed before.

    Raises AcademyError without a reason, for somebody who is no curator, and for a key that is no
    consensus.
    """
    if not has_role(by, "curator"):
        raise AcademyError("Only a curator confirms the consensus of an answer key.")
    if not reason.strip():
        raise AcademyError("A confirmation needs a reason.")
    made = 0
    for key in keys:
        version = key.task.version
        if not consensus_of(version, key):
            raise AcademyError(
                f"The key of task {key.task.external_id} in {version} is no consensus of raters."
            )
        _row, is_new = KeyConfirmation.objects.get_or_create(
            key=key, defaults={"person": by, "reason": reason}
        )
        if is_new:
            made += 1
            auditing.note(
                "key.confirm",
                f"task:{key.task_id}",
                by=by,
                reason=reason,
                revision=key.revision,
                commitment=key.commitment,
            )
    return made
