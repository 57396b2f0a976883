"""Boards of a version: made from what its format proposes, and their policies read as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from academy import registry, specs
from academy.formats.base import BoardPolicy
from academy.models import SuiteVersion
from leaderboard.models import Board


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPolicy:
    """The policy of a board as it is stored; every name is a key of the JSON."""

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

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> StoredPolicy:
        """A policy from its JSON. Raises TypeError for a key it does not know."""
        lists = {
            name: tuple(stored[name]) for name in ("secondary", "slices") if name in stored
        }
        return cls(**{**stored, **lists})

    def as_json(self) -> dict[str, Any]:
        """The policy as it is stored."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name in self.__slots__
            for value in [getattr(self, name)]
        }


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
        note=proposal.note,
    )


@transaction.atomic
def ensure_boards(version: SuiteVersion) -> list[Board]:
    """The boards that the version's format proposes for it; those that lack are made."""
    suite = specs.suite_spec(version)
    found = []
    for proposal in registry.format_of(version.suite.format).board_policies(suite):
        known = version.boards.filter(policy__metric=proposal.metric, slug__contains=proposal.slug)
        board = known.order_by("pk").first() or _make(version, proposal)
        found.append(board)
    return found


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
        is_example=version.suite.is_example,
    )
    board.versions.add(version)
    return board
