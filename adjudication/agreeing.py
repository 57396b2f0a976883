"""How far people agree on the criteria of a version, from all their decisions, whoever asked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from academy.judge_matrix import category
from academy.models import Decision, SuiteVersion
from academy.querysets import has_role
from adjudication.concordance import Agreement, Unit, agreement_on, by_scale
from adjudication.verdict_reading import asked_of

MOST_DECISIONS = 200_000
NAMESPACE = "agreement of a version"


@dataclass(frozen=True, slots=True)
class VersionAgreement:
    """The agreement by scale; `first` is how many decisions were counted when there are more."""

    by_scale: list[Agreement]
    first: int | None = None


def agreements_on_version(version: SuiteVersion, user: Any) -> VersionAgreement:
    """The agreement of people on criteria of each scale that two or more decided on one record.

    Independent verdicts only: a resolution is made by somebody who knows both sides. Nothing of a
    sealed version for the public. Of more than `MOST_DECISIONS` the first in the order of records.
    """
    if (
        version.sealed
        and version.state != SuiteVersion.State.RETIRED
        and not has_role(user, "curator")
    ):
        return VersionAgreement([])
    rows = (
        Decision.objects.filter(
            record__run__version=version,
            source="person",
            current=True,
            counts=True,
            criterion__isnull=False,
        )
        .select_related("criterion")
        .order_by("record_id", "criterion_id", "pk")
    )
    held: dict[tuple[int, int], list[Decision]] = defaultdict(list)
    listed = list(rows[: MOST_DECISIONS + 1])
    for row in listed[:MOST_DECISIONS]:
        held[row.record_id or 0, row.criterion_id or 0].append(row)
    units = [
        Unit(
            record,
            asked_of(given[0].criterion, holdout=True),
            tuple(category(row.state, row.value) for row in given),
            max((row.probability for row in given if row.probability), default=1.0),
        )
        for (record, _criterion), given in held.items()
        if len(given) > 1 and given[0].criterion is not None
    ]
    seed = f"{NAMESPACE} {version.digest}"
    return VersionAgreement(
        [agreement_on(asked, of_scale, seed) for asked, of_scale in by_scale(units)],
        first=MOST_DECISIONS if len(listed) > MOST_DECISIONS else None,
    )
