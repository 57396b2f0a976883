"""Boards of a version: made from what its format proposes, and the policies curators set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from academy import auditing, registry, specs, tasks, work
from academy.errors import AcademyError
from academy.formats.base import BoardPolicy
from academy.models import Metric, Run, SuiteVersion
from leaderboard.models import Board, BoardRevision

CHOICES: dict[str, tuple[str, ...]] = {
    "mode": ("strict", "reference"),
    "origin": ("computed", "reported"),
    "evidence": ("people", "judge", "judge_audited", "reference"),
    "attempts": ("first", "last", "best", "mean"),
    "versions": ("newest", "all"),
    "publishing": ("at_once", "by_hand"),
}
LABELS_OF_EVIDENCE = {
    "people": "People",
    "judge": "One judge, not audited",
    "judge_audited": "A judge audited by people",
    "reference": "As the original counts",
}
MOST_ROUNDS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPolicy:
    """The policy of a board as it is stored; every name is a key of the JSON.

    `verification` is the step from which entries rank, `attempts` which of several runs counts,
    `versions` whether the newest public version is shown or the items of all together, `audited`
    the records that people must have checked on a `judge_audited` board, and `publishing` whether
    a new snapshot is public at once.
    """

    metric: str
    mode: str = "strict"
    origin: str = "computed"
    evidence: str = "people"
    where: Mapping[str, Any] = field(default_factory=dict)
    secondary: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    cluster: str = ""
    coverage: float = 1.0
    ranked: bool = True
    note: str = ""
    attempts: str = "last"
    verification: int = 1
    confidence: float = 0.95
    rounds: int = 10_000
    audited: int = 30
    versions: str = "newest"
    publishing: str = "at_once"

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> StoredPolicy:
        """A policy from its JSON. Raises TypeError for a key it does not know."""
        lists = {name: tuple(stored[name]) for name in ("secondary", "slices") if name in stored}
        return cls(**{**stored, **lists})

    def as_json(self) -> dict[str, Any]:
        """The policy as it is stored."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name in self.__slots__
            for value in [getattr(self, name)]
        }

    def problems(self, versions: Sequence[SuiteVersion]) -> dict[str, str]:
        """What cannot be, by field: for these versions the board could not be made so."""
        found = {
            name: f"Choose one of {', '.join(allowed)}."
            for name, allowed in CHOICES.items()
            if getattr(self, name) not in allowed
        }
        if not 0 <= self.coverage <= 1:
            found["coverage"] = "Coverage is a share from 0 to 1."
        if not 0.5 <= self.confidence < 1:
            found["confidence"] = "Confidence is a share from 0.5 to below 1."
        if not 100 <= self.rounds <= MOST_ROUNDS:
            found["rounds"] = f"Between 100 and {MOST_ROUNDS:,} rounds."
        if self.verification not in Run.Verification.values:
            found["verification"] = "The steps are 1 to 4."
        if self.audited < 1:
            found["audited"] = "At least one record must be audited."
        for name in ("secondary", "slices"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                found[name] = "A name stands here twice."
        if self.metric in self.secondary:
            found["secondary"] = f"{self.metric!r} is the board's own metric already."
        return {**found, **self._unknown_names(versions)}

    def _unknown_names(self, versions: Sequence[SuiteVersion]) -> dict[str, str]:
        """Metrics and attributes that some version does not have."""
        found: dict[str, str] = {}
        for version in versions:
            metrics = set(version.metrics.values_list("key", flat=True))
            names = {
                name
                for attributes in version.tasks.values_list("attributes", flat=True)
                for name in attributes
            }
            if self.metric not in metrics:
                listed = ", ".join(sorted(metrics))
                found["metric"] = f"{version} has no metric {self.metric!r}; it has {listed}."
            for field_name, wanted, known in (
                ("secondary", self.secondary, metrics),
                ("slices", self.slices, names),
                ("cluster", (self.cluster,) if self.cluster else (), names),
                ("where", tuple(self.where), names),
            ):
                if lacking := [name for name in wanted if name not in known]:
                    has = f"It has {', '.join(sorted(known))}." if known else "It has none."
                    found[field_name] = f"{version} knows no {', '.join(map(repr, lacking))}. {has}"
            if self.where and not found.keys() & {"where", "metric"} and not self.counts(version):
                found["where"] = f"No task of {version} that {self.metric!r} grades is like this."
        return found

    def counts(self, version: SuiteVersion) -> bool:
        """Whether any task of a version counts under this policy."""
        return any(
            any(grading["metric"] == self.metric for grading in gradings)
            and all(attributes.get(name) == value for name, value in self.where.items())
            for attributes, gradings in version.tasks.values_list("attributes", "gradings")
        )


def policy_from(proposal: BoardPolicy, version: SuiteVersion) -> StoredPolicy:
    """The policy of a new board. Practice is listed and never ranked; the version's own choice
    of evidence goes before the format's."""
    chosen = version.attributes.get("evidence", {}).get(str(proposal.mode), {})
    return StoredPolicy(
        metric=proposal.metric,
        mode=str(proposal.mode),
        origin=proposal.origin,
        evidence=chosen.get("kind", proposal.evidence),
        where=dict(proposal.where),
        secondary=proposal.secondary,
        slices=proposal.slices,
        cluster=proposal.cluster,
        coverage=proposal.coverage,
        ranked=proposal.ranked and version.mode != SuiteVersion.Mode.PRACTICE,
        note="" if chosen else proposal.note,
    )


@transaction.atomic
def ensure_boards(version: SuiteVersion) -> list[Board]:
    """The boards that the version's format proposes for it; those that lack are made."""
    suite = specs.suite_spec(version)
    return [
        version.boards.filter(proposal=proposal.slug).order_by("pk").first()
        or _make(version, proposal)
        for proposal in registry.format_of(version.suite.format).board_policies(suite)
    ]


def _make(version: SuiteVersion, proposal: BoardPolicy) -> Board:
    slug = slugify(proposal.slug)
    if not slug.startswith(version.suite.slug):
        slug = f"{version.suite.slug}-{slug}"
    if Board.objects.filter(slug=slug[:150]).exists():
        slug = f"{slug}-{slugify(version.name.replace('.', '-'))}"
    board = Board.objects.create(
        slug=slug[:150],
        title=proposal.title,
        description=version.description,
        policy=policy_from(proposal, version).as_json(),
        proposal=proposal.slug,
        is_example=version.suite.is_example,
    )
    board.versions.add(version)
    return board


@work.owing()
def change_board(
    board: Board,
    policy: StoredPolicy,
    versions: Sequence[SuiteVersion],
    *,
    by: Any = None,
    reason: str = "",
) -> Board:
    """Give a board another policy or other versions: a new revision, and a snapshot is owed.

    The same again changes nothing. Raises AcademyError for a policy that these versions cannot
    carry, or metrics that differ between them.
    """
    problems = policy.problems(versions)
    if not versions:
        problems["versions"] = "A board needs a version."
    if not _is_one_metric(policy.metric, versions):
        problems["metric"] = "The versions measure this metric in different ways."
    if problems:
        raise AcademyError(" ".join(f"{name}: {text}" for name, text in problems.items()))
    locked = Board.objects.select_for_update().get(pk=board.pk)
    before = sorted(locked.versions.values_list("pk", flat=True))
    after = sorted({version.pk for version in versions})
    stored = policy.as_json()
    if before != after or StoredPolicy.read(locked.policy).as_json() != stored:
        BoardRevision.objects.create(
            board=locked, revision=locked.revision, policy=locked.policy, versions=before
        )
        locked.revision += 1
        locked.policy = stored
        locked.save(update_fields=["revision", "policy"])
        locked.versions.set(after)
        auditing.note(
            "board.revise", f"board:{locked.pk}", by=by, reason=reason, revision=locked.revision
        )
        owe_snapshot(locked)
    board.refresh_from_db()
    return board


def _is_one_metric(key: str, versions: Sequence[SuiteVersion]) -> bool:
    facts = ("direction", "kind", "unit", "low", "high", "run_aggregation", "missing")
    rows = Metric.objects.filter(version__in=versions, key=key).values_list(*facts)
    return len(set(rows)) <= 1


def owe_snapshot(board: Board) -> None:
    """Owe a snapshot of a board; any number of changes before it is made ask for one."""
    work.enqueue(
        "publish_board", key=f"publish_board:{board.pk}", payload={"board": board.pk}, priority=6
    )
    tasks.nudge()
