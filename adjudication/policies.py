"""The rules of a queue as plain values: what is sampled, in which order, how blind, for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from academy.errors import AcademyError

ORDERS = ("oldest", "agreement")
SUGGESTIONS = ("sealed", "open")
APPELLANTS = ("entrant", "readers")
AUDIT_SHARE = 0.1
AUDIT_MINIMUM = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Which records of closed runs become items; several reasons may hold for one record.

    `waiting`: a score waits for a person. `everything`: all records. `share`: a fixed draw from
    each entrant's run with at least `minimum` records, by `seed`. `differing`: two judges, or a
    judge and a check, say different things. `flagged`: the record has an open finding.
    """

    waiting: bool = True
    everything: bool = False
    share: float = 0.0
    minimum: int = 0
    seed: str = "audit/1"
    differing: bool = False
    flagged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one queue.

    `order` "agreement" puts records first on which judges agree least. `suggestion` "open" lets a
    reviewer look at the judge's verdict before their own, which is stored. `gold_every` mixes in
    one gold item among so many, 0 for none. `second_seat` adds a seat where a person differs from
    the judge. `reviewers` names the accounts that may take items; empty for everybody who reviews.
    `appeals_by` says who may contest what is decided here: the run's entrant, or any reader with an
    account.
    """

    sampling: Sampling = field(default_factory=Sampling)
    order: str = "oldest"
    suggestion: str = "sealed"
    is_blind: bool = True
    gold_every: int = 0
    second_seat: bool = False
    reviewers: tuple[str, ...] = ()
    appeals_by: str = "entrant"

    def as_json(self) -> dict[str, Any]:
        """The policy as it is stored."""
        return {**asdict(self), "reviewers": list(self.reviewers)}


@dataclass(frozen=True, slots=True)
class Preset:
    """A queue policy to start from, with the number of seats an item has."""

    key: str
    title: str
    says: str
    seats: int
    policy: Policy


PRESETS = (
    Preset(
        "one",
        "One reviewer",
        "One person decides each item; their verdict counts.",
        1,
        Policy(),
    ),
    Preset(
        "two-and-third",
        "Two and a third",
        "Two people decide each item alone; where they differ, a third decides.",
        2,
        Policy(),
    ),
    Preset(
        "judge-audit",
        "Audit of the judge",
        "10 % of each entrant's records, at least 30, and all on which judges differ; a person who "
        "differs from the judge calls in a second.",
        1,
        Policy(
            sampling=Sampling(share=AUDIT_SHARE, minimum=AUDIT_MINIMUM, differing=True),
            second_seat=True,
        ),
    ),
)


def preset_of(key: str) -> Preset:
    """A preset by its key. Raises AcademyError that lists the known ones."""
    for preset in PRESETS:
        if preset.key == key:
            return preset
    known = ", ".join(preset.key for preset in PRESETS)
    raise AcademyError(f"There is no preset {key!r} of a queue; known are {known}.")


def read_policy(stored: Mapping[str, Any]) -> Policy:
    """A stored policy; what it does not name is as in `Policy`.

    Raises AcademyError for rules that are not known, or cannot be followed.
    """
    sampling = _taken(Sampling, stored.get("sampling", {}), "sampling")
    others = {name: value for name, value in stored.items() if name != "sampling"}
    if "reviewers" in others:
        others["reviewers"] = tuple(others["reviewers"])
    policy: Policy = replace(_taken(Policy, others, "policy"), sampling=sampling)
    check_policy(policy)
    return policy


def check_policy(policy: Policy) -> None:
    """Raise AcademyError for a rule that cannot be followed, naming it."""
    if not 0.0 <= policy.sampling.share <= 1.0:
        raise AcademyError(f"sampling.share is a part from 0 to 1, not {policy.sampling.share!r}.")
    if policy.sampling.minimum < 0:
        raise AcademyError(f"sampling.minimum is 0 or more, not {policy.sampling.minimum!r}.")
    if policy.gold_every < 0:
        raise AcademyError(f"gold_every is 0 or more, not {policy.gold_every!r}.")
    for name, value, known in (
        ("order", policy.order, ORDERS),
        ("suggestion", policy.suggestion, SUGGESTIONS),
        ("appeals_by", policy.appeals_by, APPELLANTS),
    ):
        if value not in known:
            raise AcademyError(f"{name} is one of {', '.join(known)}, not {value!r}.")


def _taken(kind: type[Any], stored: Any, name: str) -> Any:
    """An instance of the named fields, each of the type of its default."""
    if not isinstance(stored, Mapping):
        raise AcademyError(f"{name} is an object, not {stored!r}.")
    plain = kind()
    known = {one.name: type(getattr(plain, one.name)) for one in fields(kind)}
    for key, value in stored.items():
        if key not in known:
            raise AcademyError(f"{name} has no rule {key!r}; known are {', '.join(known)}.")
        expected = known[key]
        is_number = expected is float and isinstance(value, int) and not isinstance(value, bool)
        if type(value) is not expected and not is_number:
            raise AcademyError(f"{name}.{key} takes {expected.__name__}, not {value!r}.")
    return kind(**stored)
