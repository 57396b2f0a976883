"""An invented item to learn the keys on. Nothing of it is stored, and nothing of it is true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from academy import transcript_pages
from academy.bundle import Event, RecordView
from academy.transcripts import Transcript
from adjudication import deciding, forms, kinds
from adjudication.bench import SKIP_REASONS
from adjudication.masking import Mask
from adjudication.questions import CANNOT_TELL, DEFECTIVE, FAULTS, Choice, Question
from adjudication.record_kinds import CRITERIA

MET = (
    Choice("yes", "Met", "yes", "1", True, needs_reason=False),
    Choice("no", "Not met", "no", "2", False),
    Choice(CANNOT_TELL, "Cannot tell", "unk", "3"),
    Choice(DEFECTIVE, "Criterion defective", "odd", "4"),
)
TEXTS = (
    "The agent counts only apples from the north field",
    "The agent names the number of crates",
    "The number of crates is right",
)
QUESTIONS = tuple(
    Question(
        key=f"P{number}",
        field=f"p{number}",
        text=text,
        choices=MET,
        scale="met",
        weight=round(1 / len(TEXTS), 2),
        faults=FAULTS,
    )
    for number, text in enumerate(TEXTS, 1)
)
TASK = {
    "external_id": "practice",
    "kind": "example",
    "title": "Count the crates (example)",
    "prompt": "How many crates of apples came from the north field this week? Name one number.",
}
ANSWER = "7 crates came from the north field this week. This was worked out by Example Harvester."
EVENTS = (
    Event(seq=1, kind="message", role="user", text=TASK["prompt"], offset_ms=0),
    Event(
        seq=2,
        kind="tool_call",
        title="Tool call",
        tool="read_file",
        text="crates.csv",
        offset_ms=2_000,
    ),
    Event(
        seq=3,
        kind="tool_result",
        title="Tool result",
        tool="read_file",
        text="day,field,crates\nMon,north,2\nTue,south,3\nWed,north,4\nThu,north,1\n",
        offset_ms=2_400,
    ),
    Event(
        seq=4,
        kind="message",
        role="assistant",
        text="I, Example Harvester, add the rows of the north field: 2 + 4 + 1 = 7.",
        offset_ms=5_000,
    ),
)
GUIDELINE = {"revision": 1, "text": "Judge only the criterion, on what the record shows."}
# What a reviewer could have said, to compare with afterwards.
KNOWN = {"P1": "Met", "P2": "Met", "P3": "Met"}


def bench(
    content: Mapping[str, Mapping[str, Any]] | None = None,
    problems: Mapping[str, str] | None = None,
    comment: str = "",
    query: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The bench with the invented item on it."""
    mask = Mask.of(["Example Harvester"])
    url = reverse("adjudication:practice")
    stored = content or {}
    made = forms.fields(QUESTIONS, stored, problems or {})
    transcript = Transcript.of(RecordView(answer=ANSWER, events=EVENTS))
    texts = (ANSWER, *(event.text for event in EVENTS))
    return {
        "is_practice": True,
        "is_mine": True,
        "is_blind": True,
        "has_record": True,
        "kind": kinds.KINDS[CRITERIA],
        "queue": {"title": "Practice"},
        "item_name": "practice",
        "acts": {"submit": url, "draft": url, "skip": url, "defer": url, "escalate": url},
        "task": TASK,
        **transcript_pages.page(
            None, transcript, query or {}, url=url, mask=mask, picture_url=lambda _digest: url
        ),
        "masked": sum(mask.count(text) for text in texts),
        "fields": made,
        "keys": forms.keys_of(QUESTIONS),
        "sections": forms.sections(made, ()),
        "answered": sum(1 for given in stored.values() if given.get("state")),
        "problems": problems or {},
        "comment": comment,
        "guideline": GUIDELINE,
        "confidences": forms.CONFIDENCES,
        "skip_reasons": SKIP_REASONS,
        "revision": 0,
    }


def judged(data: Mapping[str, str]) -> dict[str, Any]:
    """What was sent: the bench again with what is missing, else one's answers beside the known."""
    content = forms.read(QUESTIONS, data)
    problems = deciding.check_verdicts(QUESTIONS, content)
    context = bench(content, problems, forms.comment_of(data))
    rows = [
        {
            "question": question,
            "own": forms.words_for(question, content[question.key]),
            "reason": content[question.key]["reason"],
            "known": KNOWN[question.key],
        }
        for question in QUESTIONS
    ]
    act = next((name for name in ("why", "defer_why", "escalate_why") if name in data), "")
    if act:
        # Leaving the item is practised too, and needs no answers.
        context |= {"problems": {}, "left": True}
    return {**context, "rows": rows, "differing": sum(row["own"] != row["known"] for row in rows)}
