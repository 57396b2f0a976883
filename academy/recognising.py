"""Whether a run that comes in is one that is known already, in other bytes or retrieved again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from django.db import connection
from django.db.models import QuerySet

from academy.bundle import RunSpec
from academy.canonical import digest
from academy.models import InstanceRecord, Run
from academy.models.runs import RUN_SHIFT

OWN = (1 << RUN_SHIFT) - 1


def duplicate_of(spec: RunSpec, earlier: QuerySet[Run], *, taken: Sequence[int]) -> Run | None:
    """The earlier run that its format calls a duplicate of this one, whatever it is named now.

    A run that was only reported is no duplicate of one that brings its records.
    """
    if not spec.duplicate_digest:
        return None
    same = earlier.filter(duplicate_digest=spec.duplicate_digest).exclude(state=Run.State.FAILED)
    if spec.verification != "reported":
        same = same.exclude(records_expected=0)
    found = same.exclude(pk__in=taken).select_related("entrant", "version__suite")
    known: Run | None = found.order_by("pk").first()
    return known


def same_run(run: Run) -> Run | None:
    """A known run with the header, the limits and the records that are staged for a new one,
    locked, so that it does not end meanwhile."""
    same = Run.objects.filter(
        version=run.version,
        entrant=run.entrant,
        kind=run.kind,
        external_id=run.external_id,
        arm=run.arm,
        scenario=run.scenario,
        digest=staged_digest(run),
    ).exclude(state=Run.State.FAILED)
    found = same.exclude(pk=run.pk).select_related("entrant", "version__suite")
    locked = found.select_for_update(of=("self",), no_key=True)
    known: Run | None = locked.order_by("pk").first()
    return known


def record_in(run: Run, record_id: int) -> int:
    """The id that a record of another run has in this one."""
    return run.pk << RUN_SHIFT | record_id & OWN


def give_up(run: Run) -> None:
    """Take a new run back, with all that is staged for it."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM staged_records WHERE id BETWEEN %s AND %s", span(run))
        cursor.execute("DELETE FROM staged_reported WHERE record_id BETWEEN %s AND %s", span(run))
    run.delete()


def span(run: Run) -> list[int]:
    """The first and the last id that a record of a run can have."""
    return [run.pk << RUN_SHIFT, run.pk << RUN_SHIFT | OWN]


def run_digest(run: Run) -> str:
    """A digest over the header and every record's identity and content, in order of identity."""
    rows = InstanceRecord.objects.of_run(run.pk).order_by("id")
    return digest_of(run, rows.values_list("id", "content_digest").iterator(5000))


def staged_digest(run: Run) -> str:
    """The digest that a new run will have of the records that are staged for it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, content_digest FROM staged_records WHERE id BETWEEN %s AND %s ORDER BY id",
            span(run),
        )
        return digest_of(run, iter(cursor.fetchone, None))


def digest_of(run: Run, rows: Iterable[tuple[int, bytes]]) -> str:
    """The digest of a run over rows of record id and content digest."""
    hashed = hashlib.sha256(digest({"header": run.header, "limits": run.limits}).encode())
    for record_id, content in rows:
        hashed.update((record_id & OWN).to_bytes(8, "big") + bytes(content))
    return hashed.hexdigest()
