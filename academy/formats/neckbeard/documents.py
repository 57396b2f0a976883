"""Bytes of a fixture to named texts: YAML with every scalar taken as the text it is."""

from __future__ import annotations

import codecs
import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from academy.bundle import JSON
from academy.errors import FormatError
from academy.formats.neckbeard.remarks import Remark
from academy.formats.reading import LIMITS, read_yaml_lines
from academy.formats.yaml_reading import events_of

FIELDS_LIMIT = 200
TEXT_LIMIT = 256 * 1024
FIXTURE_LIMITS = dataclasses.replace(LIMITS, yaml_bytes=2 * 2**20)

BOM = "\ufeff"
# YAML 1.1 ends a line at these, YAML 1.2 does not: outside quotes they mean two documents at once.
SEPARATORS = re.compile("[\x85\u2028\u2029]")
BARE_CR = re.compile(r"\r(?!\n)")
# The grammar of YAML 1.2 lets a tab follow the colon; the loader does not.
TAB_AFTER_NAME = re.compile(r"^(\w[\w-]*: *)(\t[ \t]*)", re.MULTILINE | re.ASCII)
TAG = re.compile(r"(&\S+\s+)?(!\S*)")
CORE = "tag:yaml.org,2002:"
CORE_TAGS = frozenset(
    {"!", *(CORE + name for name in ("str", "int", "float", "bool", "null", "seq", "map"))}
)
# Plain texts that one or the other YAML version loads as a number, a date or a truth value.
TYPED = re.compile(
    r"[-+]?(?:0x[0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9][0-9_]*|\.inf)"
    r"|\.nan|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt\s].*)?|y|n|yes|no|on|off|true|false",
    re.IGNORECASE | re.ASCII,
)
UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
BUDGETS = frozenset({"size", "yaml-nodes", "depth", "yaml-alias", "number-range"})


@dataclass(frozen=True, slots=True)
class Document:
    """The fields of a fixture in the order written.

    A known field is text, None where it is null, or a list or mapping where it should not be.
    `plain` names the fields whose value stands without quotes. Without `readable` there are no
    fields and the remarks say why.
    """

    fields: Mapping[str, JSON] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    remarks: tuple[Remark, ...] = ()
    readable: bool = False
    source: str = ""

    def text(self, name: str) -> str:
        """The text of a field, "" where there is none to be had."""
        value = self.fields.get(name)
        return value if isinstance(value, str) and value.strip() else ""

    def line(self, name: str) -> int | None:
        """The line of a field's value."""
        return self.lines.get(name)


@dataclass(slots=True)
class Survey:
    """What the events of a document tell that its values no longer do."""

    remarks: list[Remark] = field(default_factory=list)
    quoted: list[tuple[int, int]] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    plain: set[str] = field(default_factory=set)
    names: list[str] = field(default_factory=list)
    depth: int = 0
    key: str | None = None
    stopped: bool = False
    broken: bool = False

    def stop(self, code: str, message: str, line: int | None) -> None:
        """Note what makes reading on pointless."""
        self.remarks.append(Remark(code, message, line=line))
        self.stopped = True


def read_document(data: bytes, path: str) -> Document:
    """Read one fixture. Never raises: what is wrong is among the remarks."""
    if len(data) > FIXTURE_LIMITS.yaml_bytes:
        said = f"the file is larger than {FIXTURE_LIMITS.yaml_bytes} bytes"
        return Document(remarks=(Remark("U-LIMIT", said),))
    remarks: list[Remark] = []
    try:
        source = decode(data, path, remarks)
    except FormatError as error:
        return Document(remarks=(remark_of(error),))
    text, survey = survey_of(source.removeprefix(BOM), path)
    remarks += survey.remarks
    if survey.stopped:
        return Document(remarks=tuple(remarks))
    try:
        fields, lines = fields_of(without_tags(text, survey.tags), path)
    except FormatError as error:
        return Document(remarks=(*remarks, remark_of(error)))
    remarks += remarks_on_texts(fields, lines, survey.plain)
    if BARE_CR.search(source):
        remarks.append(Remark("H-CR", "lines end in a bare carriage return"))
    return Document(fields, lines, frozenset(survey.plain), tuple(remarks), True, source)


def decode(data: bytes, path: str, remarks: list[Remark]) -> str:
    """The text, its byte order mark kept. UTF-16 is lawful YAML and is read, but not taken."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        remarks.append(Remark("H-ENCODING", "the file is UTF-16; fixtures are UTF-8"))
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            raise FormatError.at(path, "encoding", "the text is not whole UTF-16") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        said = f"byte {data[error.start]:#04x} at offset {error.start} is not UTF-8"
        raise FormatError.at(path, "encoding", said, line=line) from None


def survey_of(text: str, path: str) -> tuple[str, Survey]:
    """The text to build values from, and what its events tell.

    Tabs after a name's colon become spaces where only they keep the text from parsing.
    """
    survey = look_over(text, path)
    if not survey.broken or TAB_AFTER_NAME.search(text) is None:
        return text, survey
    spaced = TAB_AFTER_NAME.sub(lambda found: found[1] + " " * len(found[2]), text)
    better = look_over(spaced, path)
    if better.broken:
        return text, survey
    said = "a tab follows the colon of a field: YAML 1.2 allows it, most loaders do not"
    better.remarks.append(Remark("H-TAB", said))
    return spaced, better


def look_over(text: str, path: str) -> Survey:
    """Read the events once for tags, anchors, quotes and sizes, before any value is built."""
    survey = Survey()
    try:
        for event in events_of(text, path):
            take_event(survey, event)
            if survey.stopped:
                return survey
    except FormatError as error:
        problem = error.problems[0]
        survey.stop("S-YAML", with_hint(problem.message), problem.line)
        survey.broken = True
        return survey
    note_separators(survey, text)
    return survey


def note_separators(survey: Survey, text: str) -> None:
    """Signs that end a line for some readers: outside quotes nobody can say what the text is."""
    starts = [start for start, _ in survey.quoted]
    told = False
    for found in SEPARATORS.finditer(text):
        sign = f"U+{ord(found[0]):04X}"
        before = bisect_right(starts, found.start())
        if not before or found.start() >= survey.quoted[before - 1][1]:
            said = f"{sign} outside quotes ends a line for some readers only"
            survey.stop("U-SEPARATOR", said, text.count("\n", 0, found.start()) + 1)
            return
        if not told:
            said = f"{sign} in quotes ends a line for some readers only"
            line = text.count("\n", 0, found.start()) + 1
            survey.remarks.append(Remark("H-SEPARATOR", said, line=line))
            told = True


def take_event(survey: Survey, event: object) -> None:
    """Note what one event tells."""
    kind = type(event).__name__.removesuffix("Event")
    line = event.start_mark.line + 1  # type: ignore[attr-defined]
    note_anchor(survey, event, kind, line)
    tag = getattr(event, "tag", None)
    if tag is not None and kind != "DocumentStart":
        note_tag(survey, event, tag, line)
    if kind in ("MappingStart", "SequenceStart"):
        survey.depth += 1
        survey.key = None if survey.depth == 2 else survey.key
        if survey.depth > FIXTURE_LIMITS.yaml_depth:
            most = FIXTURE_LIMITS.yaml_depth
            survey.stop("U-LIMIT", f"the nesting is deeper than {most} levels", line)
    elif kind in ("MappingEnd", "SequenceEnd"):
        survey.depth -= 1
    elif kind == "Scalar":
        note_scalar(survey, event, line)
    elif kind == "Alias" and survey.depth == 1:
        survey.key = None


def note_anchor(survey: Survey, event: object, kind: str, line: int) -> None:
    """Anchors and aliases are lawful YAML that no fixture needs; an alias of nothing is neither."""
    anchor = getattr(event, "anchor", None)
    if anchor is None:
        return
    if kind == "Alias" and anchor not in survey.anchors:
        survey.stop("S-YAML", f"the alias {anchor!r} names nothing", line)
    elif kind != "Alias":
        known = bool(survey.anchors)
        survey.anchors.add(anchor)
        if known:
            return
        said = f"the anchor {anchor!r} is not taken; write the text out"
        survey.remarks.append(Remark("H-ALIAS", said, line=line))


def note_tag(survey: Survey, event: object, tag: str, line: int) -> None:
    """Core tags say nothing new; others ask a loader to build something."""
    if tag not in CORE_TAGS:
        survey.stop("S-YAML", f"the tag {tag!r} is no core tag", line)
        return
    survey.tags.append(event.start_mark.index)  # type: ignore[attr-defined]
    if len(survey.tags) > FIELDS_LIMIT:
        survey.stop("U-LIMIT", f"there are more than {FIELDS_LIMIT} tags", line)
        return
    survey.remarks.append(Remark("H-TAG", f"the tag {tag!r} says nothing here", line=line))


def note_scalar(survey: Survey, event: object, line: int) -> None:
    """Where quotes are, and which top fields stand without them."""
    style: str | None = event.style  # type: ignore[attr-defined]
    if style in ("'", '"'):
        start, end = event.start_mark, event.end_mark  # type: ignore[attr-defined]
        survey.quoted.append((start.index, end.index))
    if survey.depth != 1:
        return
    if survey.key is None:
        survey.key = event.value  # type: ignore[attr-defined]
        survey.names.append(survey.key)
        if len(survey.names) > FIELDS_LIMIT:
            survey.stop("U-LIMIT", f"there are more than {FIELDS_LIMIT} fields", line)
        return
    if style is None:
        survey.plain.add(survey.key)
    survey.key = None


def with_hint(message: str) -> str:
    """The parser's message, with what most often lies behind it."""
    if "mapping values are not allowed" in message:
        return f"{message}; a value that holds a colon and a space must be quoted"
    return message


def without_tags(text: str, places: Sequence[int]) -> str:
    """The text with core tags blanked out, every other place unmoved."""
    for place in places:
        found = TAG.match(text, place)
        if found is not None:
            start, end = found.span(2)
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def fields_of(text: str, path: str) -> tuple[dict[str, JSON], dict[str, int]]:
    """The top mapping and the line of each value. Raises FormatError."""
    value, lines = read_yaml_lines(
        text.encode("utf-8"), path=path, as_text=True, limits=FIXTURE_LIMITS
    )
    if not isinstance(value, dict):
        raise FormatError.at(path, "not-a-mapping", "the document is not a mapping of fields")
    escaped = {name: name.replace("~", "~0").replace("/", "~1") for name in value}
    return value, {name: lines[f"/{escaped[name]}"] for name in value}


def remark_of(error: FormatError) -> Remark:
    """The shared reader's refusal under the code of this format."""
    problem = error.problems[0]
    if problem.rule in ("empty", "not-a-mapping"):
        code = "S-YAML-TOP"
    elif problem.rule == "yaml-merge":
        code = "U-MERGE"
    elif problem.rule in BUDGETS:
        code = "U-LIMIT"
    else:
        code = "S-YAML"
    return Remark(code, problem.message, line=problem.line)


def remarks_on_texts(
    fields: Mapping[str, JSON], lines: Mapping[str, int], plain: set[str]
) -> Iterator[Remark]:
    """Texts that no column can hold, that are too long, or that a typed loader would not keep."""
    for name, value in fields.items():
        for text in (name, *texts_of(value)):
            found = UNSTORABLE.search(text)
            if found is not None:
                said = f"{name!r} holds the character U+{ord(found[0]):04X}"
                yield Remark("H-TEXT", said, name, lines[name])
                break
        if isinstance(value, str) and len(value) > TEXT_LIMIT:
            said = f"{name!r} is longer than {TEXT_LIMIT} characters"
            yield Remark("U-LIMIT", said, name, lines[name])
        if name in plain and isinstance(value, str) and TYPED.fullmatch(value):
            said = f"without quotes {value!r} is no text to a loader with types; it is kept as text"
            yield Remark("H-TYPED", said, name, lines[name])


def texts_of(value: JSON) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from texts_of(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from texts_of(item)
