"""Artifacts as the original makes and reads them: shape, hash, cross checks, in that order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from academy.formats.doc_bridge.hashing import HASH_KEY, content_hash, sealed
from academy.formats.doc_bridge.primitives import SEAL
from academy.formats.doc_bridge.shapes import Issue, Optional, Path, Rule, Shape, closed, issues_of


class Edition(IntEnum):
    """Versions of the rules: package 1.7.45, package 1.8.0, and the side line with checks."""

    FIRST = 1
    SECOND = 2
    THIRD = 3


DEFAULT_EDITION = Edition.SECOND
CrossCheck: TypeAlias = Callable[[Any, Edition], Iterator[tuple[str, Path]]]


class Defects(Exception):
    """What the original throws: all issues of the shape, or the first defect after it."""

    def __init__(self, issues: tuple[Issue, ...] = (), message: str = "", path: Path = ()) -> None:
        self.issues = issues
        self.message = message
        self.path = path
        super().__init__(message or "; ".join(f"{i.dotted}: {i.message}" for i in issues))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of artifact. `fields` gives its keys by edition, without the two hash keys.

    `stale` is the message of a hash that does not verify; `{expected}` becomes the right one.
    """

    type: str
    label: str
    fields: Callable[[Edition], Mapping[str, Shape | Optional]]
    check: CrossCheck
    stale: str
    rules: tuple[Rule, ...] = ()

    def payload_shape(self, edition: Edition) -> Shape:
        """The shape before the hash is added."""
        return closed(self.fields(edition), *self.rules)

    def shape(self, edition: Edition) -> Shape:
        """The shape of the whole artifact."""
        return closed({**self.fields(edition), **SEAL}, *self.rules)


def validated(shape: Shape, value: Any) -> dict[str, Any]:
    """The value with defaults filled in. Raises Defects with every issue."""
    checked, issues = issues_of(shape, value)
    if issues:
        raise Defects(tuple(issues))
    found: dict[str, Any] = checked
    return found


def is_stale(artifact: Mapping[str, Any]) -> bool:
    """Whether the stored hash is not that of the content."""
    return artifact.get(HASH_KEY) != content_hash(artifact)


def create(kind: Kind, payload: Any, edition: Edition = DEFAULT_EDITION) -> dict[str, Any]:
    """Make an artifact of a payload without hash. Raises Defects."""
    artifact = sealed(validated(kind.payload_shape(edition), payload))
    first_defect(kind, artifact, edition)
    return artifact


def read(kind: Kind, value: Any, edition: Edition = DEFAULT_EDITION) -> dict[str, Any]:
    """Read an artifact. Raises Defects; a stale hash hides what the cross checks would find."""
    artifact = validated(kind.shape(edition), value)
    if is_stale(artifact):
        raise Defects(message=stale_message(kind, artifact))
    first_defect(kind, artifact, edition)
    return artifact


def stale_message(kind: Kind, artifact: Mapping[str, Any]) -> str:
    """What the original says of a hash that does not verify."""
    return kind.stale.format(expected=content_hash(artifact))


def first_defect(kind: Kind, artifact: Any, edition: Edition) -> None:
    """Raise Defects for the first cross check that fails."""
    for message, path in kind.check(artifact, edition):
        raise Defects(message=message, path=path)


def every_defect(
    kind: Kind, value: Any, edition: Edition = DEFAULT_EDITION
) -> tuple[dict[str, Any] | None, list[tuple[str, Path, str]]]:
    """The artifact, if its shape is right, and all that is wrong with it: message, path, rule."""
    checked, issues = issues_of(kind.shape(edition), value)
    if issues:
        return None, [(issue.message, issue.path, issue_rule(issue)) for issue in issues]
    found = [(message, path, "cross-check") for message, path in kind.check(checked, edition)]
    if is_stale(checked):
        found.insert(0, (stale_message(kind, checked), (HASH_KEY,), "content-hash"))
    return checked, found


def issue_rule(issue: Issue) -> str:
    """The name of the rule behind an issue."""
    return issue.code.replace("_", "-")
