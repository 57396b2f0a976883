"""YAML within a safe subset: core types, no tags, budgets counted before anything is expanded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from academy.bundle import JSON
from academy.errors import FormatError
from academy.formats.limits import LIMITS, Limits
from academy.formats.text_reading import pointer, read_text

NULL = re.compile(r"~|null|Null|NULL|")
BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
# Texts such as 0123 and 2026-01-05 stay text: as a number or a date they would lose what they say.
WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
SHOWN = 40


@dataclass(slots=True)
class Level:
    """An open mapping or sequence."""

    value: dict[str, JSON] | list[JSON]
    anchor: str | None
    line: int
    nodes_before: int
    key: str | None = None
    keys: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Anchored:
    """A finished value with the number of nodes that an alias of it stands for."""

    value: JSON
    nodes: int


def read_yaml(
    data: bytes,
    *,
    path: str,
    as_text: bool = False,
    aliases: bool = True,
    limits: Limits = LIMITS,
) -> JSON:
    """One YAML document. Raises FormatError with the line of the first bad place.

    Plain scalars become null, booleans, whole and decimal numbers by the core schema; with
    `as_text` all but null stay text. Timestamps and numbers with leading zeros always do.
    Anchors and aliases are refused without `aliases`; tags, merge keys, keys that are not text
    and further documents always are.
    """
    return read_yaml_lines(data, path=path, as_text=as_text, aliases=aliases, limits=limits)[0]


def read_yaml_lines(
    data: bytes,
    *,
    path: str,
    as_text: bool = False,
    aliases: bool = True,
    limits: Limits = LIMITS,
) -> tuple[JSON, Mapping[str, int]]:
    """What read_yaml gives, and the line where the value of each JSON pointer starts."""
    if len(data) > limits.yaml_bytes:
        raise FormatError.at(path, "size", f"the file is larger than {limits.yaml_bytes} bytes")
    text = read_text(data, path=path, limits=limits)
    builder = Builder(path, limits, as_text=as_text, aliases=aliases)
    for event in events_of(text, path):
        builder.take(event)
    if not builder.done:
        raise FormatError.at(path, "empty", "there is nothing in it")
    return builder.result, builder.lines


def events_of(text: str, path: str) -> Iterator[Event]:
    """The parser's events; its errors become FormatError."""
    reached = 1
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            reached = line_at(event.start_mark)
            yield event
    except yaml.MarkedYAMLError as error:
        said = " ".join(part for part in (error.context, error.problem) if part)
        line = line_at(error.problem_mark or error.context_mark)
        raise FormatError.at(path, "yaml-syntax", said, line=line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"the character U+{ord(text[error.position]):04X} is not allowed"
        raise FormatError.at(path, "yaml-syntax", message, line=line) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # Among others escapes of characters that do not exist: the scanner lets chr() complain.
        raise FormatError.at(path, "yaml-syntax", str(error), line=reached) from None


def line_at(mark: object) -> int:
    """The line of a mark, counted from 1; the first line when there is no mark."""
    return int(getattr(mark, "line", 0)) + 1


class Builder:
    """Builds plain values from events and counts while it does."""

    def __init__(self, path: str, limits: Limits, *, as_text: bool, aliases: bool) -> None:
        self.path = path
        self.limits = limits
        self.as_text = as_text
        self.allows_aliases = aliases
        self.levels: list[Level] = []
        self.anchors: dict[str, Anchored] = {}
        self.lines: dict[str, int] = {}
        self.result: JSON = None
        self.done = False
        self.nodes = 0
        self.aliases = 0

    def take(self, event: Event) -> None:
        """Take the next event."""
        line = line_at(event.start_mark)
        if isinstance(event, DocumentStartEvent) and self.done:
            self.refuse("yaml-documents", "a second document begins", line)
        if isinstance(event, NodeEvent):
            self.check_node(event, line)
        if isinstance(event, ScalarEvent):
            self.take_scalar(event, line)
        elif isinstance(event, AliasEvent):
            self.take_alias(event, line)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self.open(event, line)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self.close()

    def refuse(self, rule: str, message: str, line: int) -> NoReturn:
        """Raise at the place where the builder stands."""
        raise FormatError.at(self.path, rule, message, line=line, pointer=self.here())

    def here(self) -> str:
        """The pointer of the value that comes next."""
        parts = (
            len(level.value) if isinstance(level.value, list) else level.key
            for level in self.levels
        )
        return pointer(*(part for part in parts if part is not None))

    def check_node(self, event: NodeEvent, line: int) -> None:
        """Refuse tags, anchors where none may be, and the node past the budget."""
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.refuse("yaml-tag", f"the tag {tag[:SHOWN]!r} is not allowed", line)
        if event.anchor is not None and not self.allows_aliases:
            self.refuse("yaml-alias", "anchors and aliases are not allowed here", line)
        self.count(1, line)

    def count(self, nodes: int, line: int) -> None:
        """Count nodes as if every alias were written out."""
        self.nodes += nodes
        if self.nodes > self.limits.yaml_nodes:
            message = f"there are more than {self.limits.yaml_nodes} values, aliases written out"
            self.refuse("yaml-nodes", message, line)

    def take_scalar(self, event: ScalarEvent, line: int) -> None:
        """A key where a mapping waits for one, else a value."""
        level = self.levels[-1] if self.levels else None
        if level is not None and isinstance(level.value, dict) and level.key is None:
            self.take_key(level, event, line)
            return
        plain = event.style is None
        value = self.resolve(event.value, line) if plain else event.value
        self.add(value, line)
        self.keep(event.anchor, value, 1, line)

    def take_key(self, level: Level, event: ScalarEvent, line: int) -> None:
        """A key: text, once."""
        key = event.value
        if event.anchor is not None:
            self.refuse("yaml-key", "a key cannot have an anchor", line)
        if event.style is None and key == "<<":
            self.refuse("yaml-merge", "merge keys are not allowed", line)
        if (
            event.style is None
            and not self.as_text
            and not isinstance(self.resolve(key, line), str)
        ):
            self.refuse("yaml-key", f"the key {key[:SHOWN]!r} must be quoted to be text", line)
        if key in level.keys:
            level.key = key
            self.refuse("double-key", f"the key {key[:SHOWN]!r} is given twice", line)
        level.keys.add(key)
        level.key = key

    def resolve(self, text: str, line: int) -> JSON:
        """The value of a plain scalar by the core schema."""
        if NULL.fullmatch(text):
            return None
        if self.as_text:
            return text
        if BOOLEAN.fullmatch(text):
            return text.lower() == "true"
        if NOT_FINITE.fullmatch(text):
            self.refuse("not-finite", f"{text} is not a number that is allowed", line)
        if WHOLE.fullmatch(text):
            return self.whole(text, line)
        if DECIMAL.fullmatch(text):
            return self.finite(text, line)
        return text

    def whole(self, text: str, line: int) -> int:
        """A whole number that a double could hold."""
        if len(text) > self.limits.number_digits:
            most = self.limits.number_digits
            self.refuse("number-range", f"a number has more than {most} digits", line)
        self.finite(text, line)
        return int(text)

    def finite(self, text: str, line: int) -> float:
        """A number that did not overflow."""
        number = float(text)
        if not math.isfinite(number):
            self.refuse("number-range", f"{text[:SHOWN]} is too large for a number", line)
        return number

    def take_alias(self, event: AliasEvent, line: int) -> None:
        """Stand in for a finished value; what it would expand to was counted when it was made."""
        self.aliases += 1
        if self.aliases > self.limits.yaml_aliases:
            self.refuse(
                "yaml-alias", f"there are more than {self.limits.yaml_aliases} aliases", line
            )
        name = event.anchor or ""
        anchored = self.anchors.get(name)
        if anchored is None:
            self.refuse("yaml-alias", f"the alias {name[:SHOWN]!r} names no finished value", line)
        if self.levels and isinstance(self.levels[-1].value, dict) and self.levels[-1].key is None:
            self.refuse("yaml-key", "an alias cannot be a key", line)
        self.count(anchored.nodes - 1, line)
        self.add(anchored.value, line)

    def open(self, event: MappingStartEvent | SequenceStartEvent, line: int) -> None:
        """Go one level down."""
        if len(self.levels) >= self.limits.yaml_depth:
            self.refuse(
                "depth", f"the nesting is deeper than {self.limits.yaml_depth} levels", line
            )
        if self.levels and isinstance(self.levels[-1].value, dict) and self.levels[-1].key is None:
            self.refuse("yaml-key", "a key must be text", line)
        value: dict[str, JSON] | list[JSON] = {} if isinstance(event, MappingStartEvent) else []
        self.lines[self.here()] = line
        self.levels.append(Level(value, event.anchor, line, self.nodes - 1))

    def close(self) -> None:
        """Finish the innermost level and give it to the one around it."""
        level = self.levels.pop()
        self.add(level.value, level.line)
        self.keep(level.anchor, level.value, self.nodes - level.nodes_before, level.line)

    def add(self, value: JSON, line: int) -> None:
        """Put a finished value where it belongs."""
        self.lines.setdefault(self.here(), line)
        if not self.levels:
            self.result, self.done = value, True
            return
        level = self.levels[-1]
        if isinstance(level.value, list):
            level.value.append(value)
        elif level.key is not None:
            level.value[level.key] = value
            level.key = None

    def keep(self, anchor: str | None, value: JSON, nodes: int, line: int) -> None:
        """Remember an anchored value; a name given twice is refused."""
        if anchor is None:
            return
        if anchor in self.anchors:
            self.refuse("yaml-alias", f"the anchor {anchor[:SHOWN]!r} is given twice", line)
        self.anchors[anchor] = Anchored(value, nodes)
