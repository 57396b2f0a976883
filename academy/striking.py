"""Who must call a criterion defective before it is struck, and what is said of those struck."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import Count

from academy.errors import AcademyError
from academy.models import Criterion, Decision, ScoringPass, SuiteVersion

PEOPLE_TO_STRIKE = 2
UPHELD, DISMISSED = "upheld", "dismissed"


def checked_strikes(version: SuiteVersion, strike: Iterable[int]) -> set[int]:
    """Criteria to strike.

    Raises AcademyError for one that is not of the version, that fewer than two people call
    defective, or on which a vote of people decided otherwise.
    """
    wanted = set(strike)
    known = dict(
        Criterion.objects.filter(task__version=version, pk__in=wanted).values_list("pk", "key")
    )
    if unknown := sorted(wanted - known.keys()):
        raise AcademyError(f"{version} has no criterion {unknown[0]}.")
    said, votes = said_defective(wanted), votes_on(wanted)
    for pk, key in sorted(known.items()):
        if is_voted(votes[pk], UPHELD):
            continue
        if is_voted(votes[pk], DISMISSED):
            raise AcademyError(f"Criterion {key} stays: a vote of people dismissed its defect.")
        if said.get(pk, 0) < PEOPLE_TO_STRIKE:
            raise AcademyError(
                f"Criterion {key} is struck only when {PEOPLE_TO_STRIKE} people call it "
                f"defective; {said.get(pk, 0)} did."
            )
    return wanted


def said_defective(criteria: Collection[int]) -> dict[int, int]:
    """How many people call each criterion defective, on any record."""
    return dict(
        Decision.objects.filter(
            criterion__in=criteria,
            kind=Decision.Kind.RECORD,
            state="defective",
            source__in=("person", "resolution"),
            current=True,
        )
        .values_list("criterion")
        .annotate(people=Count("person", distinct=True))
    )


def votes_on(criteria: Collection[int]) -> dict[int, list[Decision]]:
    """The standing verdicts on criteria themselves, by criterion."""
    found: dict[int, list[Decision]] = defaultdict(list)
    rows = Decision.objects.filter(
        kind=Decision.Kind.CRITERION, criterion__in=criteria, current=True, state="value"
    )
    for row in rows.order_by("pk"):
        if row.criterion_id is not None:
            found[row.criterion_id].append(row)
    return found


def is_voted(votes: Iterable[Decision], outcome: str) -> bool:
    """Whether a vote came to an outcome: by its resolution, else by two people and none against."""
    listed = list(votes)
    resolved = [vote.value for vote in listed if vote.source == Decision.Source.RESOLUTION]
    if resolved:
        return bool(resolved[-1] == outcome)
    said = {vote.person_id: vote.value for vote in listed if vote.source == Decision.Source.PERSON}
    return len(said) >= PEOPLE_TO_STRIKE and set(said.values()) == {outcome}


def struck_in(
    version: SuiteVersion, passes: Iterable[ScoringPass]
) -> list[tuple[Criterion, ScoringPass]]:
    """The criteria struck in some passes, each with the first pass of all that strikes it."""
    wanted = {pk for chosen in passes for pk in chosen.struck}
    if not wanted:
        return []
    first: dict[int, ScoringPass] = {}
    for made in version.passes.order_by("number"):
        for pk in made.struck:
            first.setdefault(pk, made)
    rows = Criterion.objects.filter(pk__in=wanted).select_related("task")
    return [(row, first[row.pk]) for row in rows.order_by("task__ordinal", "ordinal", "pk")]


def reasons_for(criteria: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    """Why people call criteria defective, by criterion, oldest first, without their names."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = Decision.objects.filter(
        criterion__in=criteria,
        source__in=("person", "resolution"),
        current=True,
        kind__in=(Decision.Kind.RECORD, Decision.Kind.CRITERION),
    )
    for row in rows.order_by("pk"):
        is_vote = row.kind == Decision.Kind.CRITERION
        if row.criterion_id is None or not (is_vote or row.state == "defective"):
            continue
        found[row.criterion_id].append(
            {
                "is_vote": is_vote,
                "is_resolution": row.source == Decision.Source.RESOLUTION,
                "value": row.value,
                "reason": row.reason,
                "made_at": row.made_at,
            }
        )
    return found
