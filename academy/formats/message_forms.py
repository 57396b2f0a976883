"""Messages of chat models as events: the forms of the common interfaces, with all their parts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from academy.bundle import JSON, Event

THOUGHTS = ("thinking", "reasoning_content", "reasoning_trace", "reasoning")
RESULT_ROLES = frozenset({"tool"})
ROLES = {"agent": "assistant", "environment": "tool", "function": "tool", "ai": "assistant"}


@dataclass(slots=True)
class Parts:
    """The parts of a content, by what they are."""

    texts: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Mapping[str, Any]] = field(default_factory=list)
    results: list[Mapping[str, Any]] = field(default_factory=list)
    others: list[JSON] = field(default_factory=list)

    @classmethod
    def of(cls, content: JSON) -> Parts:
        """Take a content apart: text, a part, or a list of parts; what is not known is kept."""
        parts = cls()
        if isinstance(content, str):
            parts.texts.append(content)
        elif isinstance(content, Mapping):
            parts.take(content)
        elif isinstance(content, Sequence):
            for part in content:
                parts.take(part)
        elif content is not None:
            parts.others.append(content)
        return parts

    def take(self, part: JSON) -> None:
        """Put one part where it belongs."""
        if isinstance(part, str):
            self.texts.append(part)
            return
        held = part if isinstance(part, Mapping) else {}
        kind = held.get("type")
        image = image_of(held)
        if image:
            self.images.append(image)
        elif kind == "tool_use":
            self.calls.append(held)
        elif kind == "tool_result":
            self.results.append(held)
        elif kind in ("thinking", "reasoning") and (thought := thought_of(held)):
            self.thoughts.append(thought)
        elif isinstance(said := held.get("text", held.get("refusal")), str):
            self.texts.append(said)
        else:
            self.others.append(part)

    @property
    def text(self) -> str:
        """All text, a part a line."""
        return "\n".join(self.texts)

    @property
    def data(self) -> JSON:
        """What is neither text nor picture, as it came."""
        return self.others[0] if len(self.others) == 1 else (self.others or None)


def thought_of(part: Mapping[str, Any]) -> str:
    """The text of a part that thinks."""
    for name in ("thinking", "reasoning", "text", "summary"):
        value = part.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list):
            return Parts.of(value).text
    return ""


def image_of(part: Mapping[str, Any]) -> str:
    """Where the picture of a part is: a data: address, a path or an address; "" if it has none."""
    if part.get("type") not in ("image", "image_url", "input_image", "screenshot"):
        return ""
    for name in ("image_url", "source", "image", "url", "path", "data"):
        held = part.get(name)
        if isinstance(held, str) and held:
            return address_of(held, part)
        if isinstance(held, Mapping):
            for inner in ("url", "data", "path", "file"):
                if isinstance(value := held.get(inner), str) and value:
                    return address_of(value, held)
    return ""


def address_of(value: str, part: Mapping[str, Any]) -> str:
    """A picture's address; bare base64 gets the head that says so."""
    kind = part.get("media_type") or part.get("mime_type") or part.get("mimeType")
    is_bare = isinstance(kind, str) and len(value) > 256 and ":" not in value[:64]
    return f"data:{kind};base64,{value}" if is_bare else value


def ids_of(value: JSON) -> list[str]:
    """The ids of calls that a result names: a text, or a list of texts."""
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [one for one in listed if isinstance(one, str)]


def whole(value: JSON) -> int | None:
    """A count, or None."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count and isinstance(value, int) else None


@dataclass(slots=True)
class Messages:
    """Reads messages in their order; a result is named after the call that it answers."""

    tools: dict[str, str] = field(default_factory=dict)

    def events(self, message: Mapping[str, Any], source: str = "") -> Iterator[Event]:
        """The events of one message: thoughts, what was said, results, then calls."""
        said = message.get("role", message.get("source"))
        role = ROLES.get(said, said) if isinstance(said, str) else ""
        parts = Parts.of(message.get("content", message.get("message")))
        base = Event(seq=0, kind="message", role=role, source=source)
        for thought in (*own_thoughts(message), *parts.thoughts):
            yield replaced(base, kind="thought", text=thought)
        calls = [*listed_calls(message), *parts.calls]
        yield from self.saying(message, base, parts, has_more=bool(calls or parts.results))
        for result in parts.results:
            yield self.result(result, base)
        for call in calls:
            yield self.call(call, base)

    def saying(
        self, message: Mapping[str, Any], base: Event, parts: Parts, *, has_more: bool
    ) -> Iterator[Event]:
        """What a message says itself; an empty one is shown only where nothing else is."""
        refusal, error = message.get("refusal"), message.get("error")
        texts = [parts.text, refusal if isinstance(refusal, str) else "", error_text(error)]
        text = "\n".join(text for text in texts if text)
        is_result = base.role in RESULT_ROLES
        thinks = bool(parts.thoughts or list(own_thoughts(message)))
        if not (text or parts.images or parts.others) and (has_more or thinks):
            return
        yield replaced(
            base,
            kind="tool_result" if is_result else "message",
            title="Refusal" if isinstance(refusal, str) and refusal else "",
            text=text,
            data=parts.data,
            tool=self.tool_of(message) if is_result else "",
            images=tuple(parts.images),
            failed=is_result and (bool(error) or is_failure(message)),
        )

    def tool_of(self, message: Mapping[str, Any]) -> str:
        """The tool whose result a message is."""
        for name in ("tool", "name", "function"):
            if isinstance(value := message.get(name), str) and value:
                return value
        ids = ids_of(message.get("tool_call_id", message.get("tool_use_id")))
        names = dict.fromkeys(self.tools[one] for one in ids if one in self.tools)
        return ", ".join(names)

    def result(self, part: Mapping[str, Any], base: Event) -> Event:
        """A result that is a part of a message."""
        parts = Parts.of(part.get("content"))
        return replaced(
            base,
            kind="tool_result",
            text=parts.text,
            data=parts.data,
            images=tuple(parts.images),
            tool=self.tool_of(part),
            failed=is_failure(part),
        )

    def call(self, call: Mapping[str, Any], base: Event) -> Event:
        """A call of a tool, whatever the names of its parts."""
        inner = call.get("function")
        held = inner if isinstance(inner, Mapping) else call
        names = (held.get("name"), held.get("function_name"), inner)
        tool = next((name for name in names if isinstance(name, str) and name), "")
        for one in ids_of(call.get("id", call.get("tool_call_id"))):
            self.tools[one] = tool
        given = next((held[k] for k in ("arguments", "input", "args") if k in held), None)
        is_text = isinstance(given, str)
        return replaced(
            base,
            kind="tool_call",
            tool=tool,
            text=given if is_text else "",
            data=None if is_text else given,
        )


def replaced(event: Event, **changes: Any) -> Event:
    """An event otherwise; `dataclasses.replace` costs ten times as much on long transcripts."""
    return Event(seq=0, role=event.role, source=event.source, **changes)


def numbered(events: Iterable[Event], *, first: int) -> tuple[Event, ...]:
    """Events that were just made, with their places as sequence numbers.

    Nobody else holds them yet: setting the number costs a tenth of copying each.
    """
    made = tuple(events)
    for place, event in enumerate(made, first):
        object.__setattr__(event, "seq", place)
    return made


def own_thoughts(message: Mapping[str, Any]) -> Iterator[str]:
    """What a message says that it thought."""
    for name in THOUGHTS:
        if isinstance(value := message.get(name), str) and value:
            yield value
            return


def listed_calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls beside a message's content."""
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else [message.get("function_call")]
    return [call for call in listed if isinstance(call, Mapping)]


def error_text(error: JSON) -> str:
    """What an error says of itself."""
    if isinstance(error, Mapping):
        said = error.get("message")
        return said if isinstance(said, str) else json.dumps(error, ensure_ascii=False)
    return error if isinstance(error, str) else ""


def is_failure(held: Mapping[str, Any]) -> bool:
    """Whether a result says of itself that it is an error."""
    return any(held.get(name) is True for name in ("is_error", "isError", "failed"))
