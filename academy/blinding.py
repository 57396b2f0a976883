"""Values from outside without what tells who made them; whoever looks must not know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

# Stands for what is hidden until a page is made; the last character that anybody may use.
HIDDEN = "\U0010fffd"
SEPARATORS = re.compile(r"[-_\s]+")
AT_ONCE = 256 * 1024
# Members of JSON objects that name who made an answer, or bear ids in the maker's own style.
TELLING = frozenset(
    {
        *("model", "modelname", "modelid", "modelversion", "modelslug", "engine", "deployment"),
        *("provider", "providername", "developer", "vendor", "organization", "organisation"),
        *("agent", "agentname", "agentversion", "harness", "harnessversion", "useragent"),
        *("systemfingerprint", "fingerprint", "signature", "encryptedcontent", "apibase"),
        *("baseurl", "endpoint", "client", "id", "callid", "toolcallid", "tooluseid"),
        *("sourcecallid", "responseid", "requestid", "sessionid", "evaluationid", "contestant"),
    }
)


class Hiding(Protocol):
    """Says where names are in a text; equal ones hide the same."""

    def __hash__(self) -> int: ...

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The beginnings and ends of names, in order."""


def without_names(text: str, mask: Hiding | None) -> str:
    """The text with a stand-in for every name."""
    if mask is None:
        return text
    parts: list[str] = []
    place = 0
    for start, end in mask.spans(text):
        parts += (text[place:start], HIDDEN)
        place = end
    return "".join((*parts, text[place:])) if parts else text


def blinded(value: Any, mask: Hiding | None) -> Any:
    """A JSON value with names hidden in every text, and members hidden that tell the maker.

    Names are hidden before the value becomes text: there a line end before a name is an escape,
    whose letter would make another word of it.
    """
    if isinstance(value, str):
        return without_names(value, mask)
    if mask is None or value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {
            without_names(str(key), mask): HIDDEN if tells(key, held) else blinded(held, mask)
            for key, held in value.items()
        }
    return [blinded(item, mask) for item in value]


def tells(key: object, value: Any) -> bool:
    """Whether a member names the maker by what it is for; an empty one tells nothing."""
    return bool(value) and SEPARATORS.sub("", str(key)).lower() in TELLING


def count_hidden(value: Any, mask: Hiding) -> int:
    """How many places of a value would be hidden."""
    tally = Tally(mask)
    tally.take(value)
    tally.flush()
    return tally.count


@dataclass(slots=True)
class Tally:
    """Counts what is hidden in many texts, some hundred KB at once: short ones cost by the call."""

    mask: Hiding
    count: int = 0
    size: int = 0
    texts: list[str] = field(default_factory=list)

    def take(self, value: Any) -> None:
        """Count all texts of a value, and members that tell the maker."""
        if isinstance(value, str):
            self.texts.append(value)
            self.size += len(value)
            if self.size > AT_ONCE:
                self.flush()
        elif isinstance(value, Mapping):
            for key, held in value.items():
                self.take(str(key))
                if tells(key, held):
                    self.count += 1
                else:
                    self.take(held)
        elif isinstance(value, list | tuple):
            for item in value:
                self.take(item)

    def flush(self) -> None:
        """Look through what was taken; no name reaches over what stands between two texts."""
        self.count += sum(1 for _span in self.mask.spans("\0".join(self.texts)))
        self.texts.clear()
        self.size = 0
