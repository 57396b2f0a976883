"""The runs that an upload fills: on which version, by which entrant, known, open or new.

What runs of one upload share is asked once: an upload may hold hundreds of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max, QuerySet

from academy import recognising
from academy.bundle import RunSpec, SuiteRef
from academy.entering import find_entrants, resolve_version
from academy.errors import AcademyError
from academy.fitting import fitting
from academy.models import Entrant, Run, Submission, SuiteVersion
from academy.packs import RecordWriter
from academy.populating import plain
from academy.staging import Target

Ordinals = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """How runs are stored. `unknown` says what happens to records of tasks the version lacks:
    "refuse", or "leave_out", which lists them and counts them nowhere."""

    version: SuiteVersion | None = None
    entrant: str = ""
    account: Any = None
    kind: str = Run.Kind.ENTRANT
    unknown: str = "refuse"
    dry_run: bool = False
    is_example: bool = False
    idempotency_key: str | None = None
    name: str = ""

    @property
    def person(self) -> Any:
        """Who brings the upload, if that is an account."""
        return self.account if getattr(self.account, "is_authenticated", False) else None


@dataclass(slots=True)
class _Shared:
    """What runs of an upload have in common, as far as it was asked for."""

    versions: dict[SuiteRef, SuiteVersion] = field(default_factory=dict)
    ordinals: dict[int, Ordinals] = field(default_factory=dict)

    def version_of(self, spec: RunSpec) -> SuiteVersion:
        if spec.suite not in self.versions:
            self.versions[spec.suite] = resolve_version(spec)
        return self.versions[spec.suite]

    def ordinals_of(self, version: SuiteVersion) -> Ordinals:
        if version.pk not in self.ordinals:
            rows = version.tasks.values_list("external_id", "pk", "ordinal")
            self.ordinals[version.pk] = {name: (pk, ordinal) for name, pk, ordinal in rows}
        return self.ordinals[version.pk]


def targets_of(
    specs: Sequence[RunSpec], form: str, options: RecordingOptions, *, before: Sequence[int]
) -> list[Target]:
    """The run that each header means: one that these bytes filled before, one that is open, or a
    new one. No two headers of an upload mean the same run."""
    shared = _Shared()
    versions = [options.version or shared.version_of(spec) for spec in specs]
    entrants = find_entrants(
        [spec.entrant for spec in specs], slug=options.entrant, is_example=options.is_example
    )
    targets: list[Target] = []
    for spec, version, entrant in zip(specs, versions, entrants, strict=True):
        taken = [target.run.pk for target in targets]
        run, outcome = _run_of(spec, version, entrant, form, options, before=before, taken=taken)
        packs = 0 if outcome == "created" else run.packs.count()
        writer = RecordWriter(run, packs + 1)
        targets.append(Target(run, spec, writer, shared.ordinals_of(version), outcome))
    _hold(targets)
    return targets


def _hold(targets: Sequence[Target]) -> None:
    """Let no known run end before what comes for it is stored.

    Raises AcademyError when one ended since it was looked up. After new runs are made: whoever
    locks the version they name may wait for those who wait for a known one.
    """
    known = {target.run.pk: target.run for target in targets if target.outcome != "created"}
    rows = Run.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=known)
    for pk, state in rows.order_by("pk").values_list("pk", "state"):
        if state != known[pk].state:
            raise AcademyError(f"Run {pk} has become {state} just now; bring the upload again.")


def _run_of(
    spec: RunSpec,
    version: SuiteVersion,
    entrant: Entrant,
    form: str,
    options: RecordingOptions,
    *,
    before: Sequence[int],
    taken: Sequence[int],
) -> tuple[Run, str]:
    earlier = Run.objects.filter(version=version, entrant=entrant, kind=options.kind)
    attempts: int = earlier.aggregate(last=Max("attempt"))["last"] or 0
    if attempts:
        known, outcome = _known(spec, earlier, before=before, taken=taken)
        if known is not None:
            return known, outcome
    run = Run(
        version=version,
        entrant=entrant,
        kind=options.kind,
        form=form,
        external_id=spec.external_id,
        attempt=attempts + 1,
        arm=spec.arm,
        scenario=spec.scenario,
        verification=Run.Verification[spec.verification.upper()],
        limits=plain(spec.limits),
        header=plain(spec.extra),
        duplicate_digest=spec.duplicate_digest,
        started_at=spec.started_at,
    )
    fitting(run, "The header of the run").save()
    return run, "created"


def _known(
    spec: RunSpec, earlier: QuerySet[Run], *, before: Sequence[int], taken: Sequence[int]
) -> tuple[Run | None, str]:
    same = (
        earlier.filter(external_id=spec.external_id, arm=spec.arm, scenario=spec.scenario)
        .exclude(pk__in=taken)
        # A run that failed through us may be entered again, in the same bytes too.
        .exclude(state=Run.State.FAILED)
        .select_related("entrant", "version__suite")
        .order_by("pk")
    )
    run = same.filter(pk__in=before).first() or recognising.duplicate_of(spec, earlier, taken=taken)
    if run is not None:
        return run, "unchanged"
    return same.filter(state=Run.State.OPEN).first(), "extended"


def runs_of_source(source_digest: str) -> list[int]:
    """The runs to which an upload of these bytes has given records before."""
    reports = Submission.objects.filter(source_digest=source_digest).values_list(
        "report", flat=True
    )
    return [run for report in reports for run in report.get("runs", ())]
