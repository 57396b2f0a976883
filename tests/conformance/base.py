"""The shape of a conformance module, and how the cases of a list are counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias


class Unreadable(Exception):
    """A file of the data cannot be read as an oracle; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a check may need besides its case: the data folder and the whole oracle file."""

    folder: Path
    oracle: Mapping[str, Any]

    def read(self, path: str) -> bytes:
        """The bytes of a file of the data folder."""
        return (self.folder / path).read_bytes()


# Gives None when the product agrees with the case, else what differs. Raising differs too.
Check: TypeAlias = Callable[[Any, Context], str | None]


@dataclass(slots=True)
class Tally:
    """Counts of one list of cases."""

    cases: int = 0
    agree: int = 0
    differ: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The counts in the printed shape."""
        return {"cases": self.cases, "agree": self.agree, "differ": self.differ}


def cases_of(name: str, listed: Any) -> Iterator[tuple[str, Any]]:
    """Every case of a list with its id: the case's own, else its place."""
    if isinstance(listed, Mapping):
        yield from ((str(key), {"id": str(key), "case": value}) for key, value in listed.items())
        return
    for position, case in enumerate(listed):
        held = case if isinstance(case, Mapping) else {}
        named = next((held[key] for key in ("id", "name", "case_id") if held.get(key)), None)
        yield str(named or f"{name}[{position}]"), case


def run_list(name: str, listed: Any, check: Check | None, context: Context) -> Tally:
    """Run every case of one list. A case that cannot be run differs."""
    tally = Tally()
    for identity, case in cases_of(name, listed):
        tally.cases += 1
        try:
            difference = "no check knows this list" if check is None else check(case, context)
        except Exception as error:  # noqa: BLE001 - any failure of the product is a difference
            difference = f"{type(error).__name__}: {error}"
        if difference is None:
            tally.agree += 1
        else:
            tally.differ.append(identity)
            tally.reasons[identity] = difference
    return tally


def oracles(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Every oracle file of a format's data folder. Raises Unreadable for one that is no object."""
    for path in sorted([*folder.glob("oracle*.json"), *folder.glob("oracle/*.json")]):
        try:
            oracle = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise Unreadable(f"{path} cannot be read: {error}") from error
        if not isinstance(oracle, Mapping):
            raise Unreadable(f"{path} holds no object of lists of cases")
        yield path, oracle
