"""The form of a review: one question per criterion, built from its scale, never from the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjudication.questions import COMMENT, LONGEST_NUMBER, Question, Section, number_of

CONFIDENCES = ("low", "medium", "high")
LONGEST_COMMENT = 5_000

Content = dict[str, dict[str, Any]]


def words_of(text: str) -> str:
    """Typed text as it can be stored: one kind of line end, and no NUL, which has no place."""
    return text.replace("\r\n", "\n").replace("\x00", "\ufffd")


def read(questions: Sequence[Question], data: Mapping[str, str]) -> Content:
    """What was sent, by question key; what was not answered has an empty state.

    With a button that answers a whole section, what is still open there gets that answer.
    """
    content = {question.key: read_one(question, data) for question in questions}
    section, _, code = data.get("mark", "").partition(":")
    return mark_all(questions, content, section, code) if code else content


def with_comment(content: Content, data: Mapping[str, str]) -> Content:
    """A draft that keeps the comment on the whole item beside the answers."""
    return {**content, COMMENT: {"reason": comment_of(data)}}


def comment_of(data: Mapping[str, str]) -> str:
    """The comment on the whole item."""
    return words_of(data.get("m-item", ""))[:LONGEST_COMMENT]


def read_one(question: Question, data: Mapping[str, str]) -> dict[str, Any]:
    """One answer as it is kept in drafts and seats."""
    choice = question.choice(data.get(f"v-{question.field}", ""))
    confidence = data.get(f"c-{question.field}", "")
    given = {
        "state": "" if choice is None else choice.state,
        "value": choice.value if choice is not None and choice.state == "value" else None,
        "reason": words_of(data.get(f"r-{question.field}", "")),
        "confidence": confidence if confidence in CONFIDENCES else "",
    }
    if question.takes == "number":
        given |= read_number(data.get(f"n-{question.field}", ""))
    if question.table:
        given["table"] = question.table
    fault = data.get(f"f-{question.field}", "")
    if fault in question.faults:
        given["fault"] = fault
    return given


def read_number(text: str) -> dict[str, Any]:
    """A typed number; what is none is kept as it was typed, and answers nothing."""
    typed = words_of(text)[:LONGEST_NUMBER]
    if not typed.strip():
        return {}
    value = number_of(typed)
    return {"state": "" if value is None else "value", "value": value, "typed": typed}


def mark_all(questions: Sequence[Question], content: Content, section: str, code: str) -> Content:
    """The same answer for all that is still open in a section."""
    marked = dict(content)
    for question in questions:
        choice = question.choice(code)
        given = content[question.key]
        if question.section == section and choice is not None and not given["state"]:
            marked[question.key] = {**given, "state": choice.state, "value": choice.value}
    return marked


def code_of(question: Question, given: Mapping[str, Any]) -> str:
    """The code of a stored answer, for showing it again."""
    state, value = given.get("state", ""), given.get("value")
    for choice in question.choices:
        if choice.state == state and (state != "value" or choice.value == value):
            return choice.code
    return ""


def words_for(question: Question, given: Mapping[str, Any]) -> str:
    """An answer in the words in which it was offered."""
    if question.takes == "number" and given.get("state") == "value":
        unit = (question.about or {}).get("unit", "")
        return f"{given.get('typed') or given.get('value')} {unit}".strip()
    choice = question.choice(code_of(question, given))
    return choice.label if choice else "–"


def fields(
    questions: Sequence[Question],
    content: Mapping[str, Mapping[str, Any]],
    problems: Mapping[str, str],
) -> list[dict[str, Any]]:
    """The questions as the template shows them, with what was answered and what is wrong.

    The keyboard is at the first that is wrong, else at the first that is open.
    """
    open_keys = [q.key for q in questions if not content.get(q.key, {}).get("state")]
    first = next(iter([*problems, *open_keys, *(q.key for q in questions)]), "")
    return [
        {
            "number": number,
            **field_of(question, content.get(question.key, {})),
            "problem": problems.get(question.key, ""),
            "is_on": question.key == first,
        }
        for number, question in enumerate(questions, 1)
    ]


def keys_of(questions: Sequence[Question]) -> dict[str, Any]:
    """The keys that answer a form: the first and last digit, whether "x" does, and whether digits
    begin a number."""
    keys = sorted({choice.key for asked in questions for choice in asked.choices})
    digits = [key for key in keys if key.isdigit()]
    return {
        "first": digits[0] if digits else "",
        "last": digits[-1] if digits else "",
        "has_x": "x" in keys,
        "has_number": any(asked.takes == "number" for asked in questions),
    }


def field_of(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """One question with what was answered."""
    stored = given.get("value") if given.get("state") == "value" else None
    return {
        "question": question,
        "choices": question.choices,
        "chosen": code_of(question, given),
        "typed": given.get("typed", "" if stored is None else stored),
        "reason": given.get("reason", ""),
        "confidence": given.get("confidence", ""),
        "fault": given.get("fault", ""),
        "is_rating": question.scale == "rating",
        "is_number": question.takes == "number",
        "has_outcomes": question.scale == "outcome",
    }


def sections(made: Sequence[Mapping[str, Any]], known: Sequence[Section]) -> list[dict[str, Any]]:
    """Fields in their sections, in order; those of the scale "fit" are shown as rows of a table."""
    named = {section.key: section for section in known}
    found: list[dict[str, Any]] = []
    for field in made:
        key = field["question"].section
        is_table = field["question"].scale == "fit"
        if not found or (found[-1]["key"], found[-1]["is_table"]) != (key, is_table):
            section = named.get(key) or Section(key, key.capitalize())
            found.append({"key": key, "section": section, "is_table": is_table, "fields": []})
        found[-1]["fields"].append(field)
    return found
