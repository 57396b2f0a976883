"""Finds the first bad place of a JSON text, with its line and pointer, without recursion."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field

from academy.formats.limits import Limits
from academy.formats.text_reading import pointer

SPACE = re.compile(r"[ \t\n\r]*+")
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
NUMBER_LIKE = re.compile(r"[-+]?(?:[0-9.][0-9.eE+-]*+|Infinity|NaN)")
WORD = re.compile(r"[A-Za-z_]++")
CONSTANTS = ("NaN", "Infinity", "-Infinity")
SHOWN = 40


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong and at which offset of the text."""

    rule: str
    message: str
    offset: int
    pointer: str


@dataclass(slots=True)
class Level:
    """An open object or list: the place within it, and the keys seen."""

    closer: str
    place: str | int = 0
    keys: set[str] = field(default_factory=set)


class Walk:
    """One pass over a text. `find()` gives the first fault, or None for a text that is right.

    With `lenient` numbers that are not finite are no faults; they are listed in `skipped`.
    """

    def __init__(self, text: str, limits: Limits, *, lenient: bool = False) -> None:
        self.text = text
        self.lenient = lenient
        self.skipped: list[Fault] = []
        self.limits = limits
        self.levels: list[Level] = []
        self.at = 0
        self.nodes = 0

    def find(self) -> Fault | None:
        """The first fault in the order of the text."""
        self.skip_space()
        if self.at == len(self.text):
            return self.fault("empty", "there is nothing in it")
        while True:
            opened = len(self.levels)
            fault = self.value()
            if fault is None and len(self.levels) == opened:
                fault = self.close_or_go_on()
            elif fault is None:
                fault = self.enter()
            if fault is not None:
                return fault
            if not self.levels:
                break
        if self.at < len(self.text):
            return self.fault("json-syntax", f"{self.shown()} follows after the end of the value")
        return None

    def fault(self, rule: str, message: str, offset: int | None = None) -> Fault:
        """A fault at an offset, or where the walk stands."""
        where = pointer(*(level.place for level in self.levels))
        return Fault(rule, message, self.at if offset is None else offset, where)

    def syntax(self, wanted: str) -> Fault:
        """A fault that names what should stand here and what does."""
        return self.fault("json-syntax", f"{wanted} is expected, but {self.shown()} is found")

    def shown(self) -> str:
        """What stands here, in words."""
        if self.at >= len(self.text):
            return "the end of the text"
        word = WORD.match(self.text, self.at)
        return repr(word[0][:SHOWN] if word else self.text[self.at])

    def skip_space(self) -> None:
        """Go to the next character that means something."""
        found = SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def value(self) -> Fault | None:
        """Read one value; of a list or object only its opening bracket."""
        self.nodes += 1
        if self.nodes > self.limits.nodes:
            return self.fault("nodes", f"there are more than {self.limits.nodes} values")
        first = self.text[self.at : self.at + 1]
        if first == '"':
            return self.string()
        if first in ("{", "["):
            return self.open(first)
        for word in ("true", "false", "null"):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return None
        return self.number()

    def open(self, bracket: str) -> Fault | None:
        """Go one level down."""
        if len(self.levels) >= self.limits.depth:
            return self.fault("depth", f"the nesting is deeper than {self.limits.depth} levels")
        self.levels.append(Level("}" if bracket == "{" else "]"))
        self.at += 1
        return None

    def string(self) -> Fault | None:
        """Read one text."""
        found = STRING.match(self.text, self.at)
        end = found.end() if found else self.at
        if self.text[end : end + 1] == '"':
            self.at = end + 1
            return None
        if end >= len(self.text):
            return self.fault("json-syntax", "the text that begins here is never closed")
        bad = self.text[end]
        if bad == "\\":
            shown = self.text[end : end + 2]
            return self.fault("json-syntax", f"{shown!r} is no escape that JSON knows", end)
        message = f"the control character U+{ord(bad):04X} must be escaped"
        return self.fault("json-syntax", message, end)

    def number(self) -> Fault | None:
        """Read one number that a double can hold."""
        like = NUMBER_LIKE.match(self.text, self.at)
        if like is None:
            return self.syntax("a value")
        found = NUMBER.fullmatch(like[0])
        if like[0] in CONSTANTS:
            return self.skip(like, "not-finite", f"{like[0]} is not a number that JSON allows")
        if found is None:
            return self.fault("json-syntax", f"{like[0][:SHOWN]!r} is no number that JSON knows")
        whole = found[1] is None and found[2] is None
        digits = len(like[0].lstrip("-"))
        if whole and digits > self.limits.number_digits:
            most = self.limits.number_digits
            return self.fault(
                "number-range", f"a number has {digits} digits, at most {most} may be"
            )
        if not math.isfinite(float(like[0])):
            message = f"{like[0][:SHOWN]} is too large for a number"
            return self.skip(like, "number-range", message)
        self.at = like.end()
        return None

    def skip(self, like: re.Match[str], rule: str, message: str) -> Fault | None:
        """A number that is not finite: a fault, or one more in `skipped`."""
        fault = self.fault(rule, message)
        if not self.lenient:
            return fault
        self.skipped.append(fault)
        self.at = like.end()
        return None

    def enter(self) -> Fault | None:
        """After an opening bracket: the first key, the first item, or the closing bracket."""
        self.skip_space()
        level = self.levels[-1]
        if self.text.startswith(level.closer, self.at):
            return self.close_or_go_on()
        if level.closer == "}":
            return self.key("a key or '}'")
        return None if self.at < len(self.text) else self.syntax("a value or ']'")

    def close_or_go_on(self) -> Fault | None:
        """After a value: closing brackets, then a comma with what must follow it."""
        self.skip_space()
        while self.levels and self.text.startswith(self.levels[-1].closer, self.at):
            self.levels.pop()
            self.at += 1
            self.skip_space()
        if not self.levels:
            return None
        level = self.levels[-1]
        if not self.text.startswith(",", self.at):
            return self.syntax(f"',' or {level.closer!r}")
        self.at += 1
        self.skip_space()
        if level.closer == "}":
            return self.key("a key")
        level.place = int(level.place) + 1
        if self.text.startswith("]", self.at):
            return self.syntax("a value")
        return None

    def key(self, wanted: str) -> Fault | None:
        """Read a key and its colon."""
        start = self.at
        level = self.levels.pop()
        if not self.text.startswith('"', self.at):
            fault: Fault | None = self.syntax(wanted)
        else:
            fault = self.string()
        self.levels.append(level)
        if fault is not None:
            return Fault(fault.rule, fault.message, fault.offset, fault.pointer)
        name = json.loads(self.text[start : self.at])
        level.place = name
        if name in level.keys:
            return self.fault("double-key", f"the key {name[:SHOWN]!r} is given twice", start)
        level.keys.add(name)
        self.skip_space()
        if not self.text.startswith(":", self.at):
            return self.syntax("':'")
        self.at += 1
        self.skip_space()
        return None
