"""What the schema asks of a suite as a whole and nobody checks: told as warnings, never refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from academy.errors import Problem, Severity
from academy.formats.neckbeard.facts import CLASSES, SINGLE_TASK
from academy.formats.neckbeard.rules import Fixture
from academy.formats.neckbeard.suites import Examined

ELSEWHERE = re.compile(
    r"\bas (?:discussed|mentioned|described|agreed) (?:above|before|earlier|previously)\b"
    r"|\b(?:see|the) (?:above|below|attached|attachment)\b"
    r"|\b(?:previous|earlier|last) (?:message|conversation|chat|prompt|session)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"\w+")
HINT_WORDS = 8
LARGE_SHARE = 0.5
SMALL_SUITE = 4
# Classes whose right outcome a reflex for small diffs gets wrong.
AGAINST_REFLEX = ("no-change-needed", "adversarial")


def suite_notices(examined: Examined) -> Iterator[Problem]:
    """Warnings and notes on the suite and on prompts."""
    root = str(examined.root)
    singles = [one for one in examined.fixtures if one.kind == SINGLE_TASK]
    if singles:
        yield from class_notices(root, singles)
    words = Counter(one.document.text("visibility") for one in examined.fixtures)
    if not words["holdout"]:
        said = "no fixture is a holdout, so nothing here can support a claim of improvement"
        yield Problem(root, "suite-without-holdout", said, severity=Severity.INFO)
    for fixture in examined.fixtures:
        yield from prompt_notices(fixture)
    yield from leaked_prompts(examined.fixtures)


def class_notices(root: str, singles: Sequence[Fixture]) -> Iterator[Problem]:
    """Which classes are there, and whether one outweighs the rest."""
    counts = Counter(one.document.text("class") for one in singles)
    for name in AGAINST_REFLEX:
        if not counts[name]:
            said = f"no fixture is of the class {name}, so a reflex for small changes goes untested"
            yield Problem(root, f"suite-without-{name}", said, severity=Severity.WARNING)
    absent = [name for name in CLASSES if not counts[name] and name not in AGAINST_REFLEX]
    if absent:
        said = f"classes without a fixture: {', '.join(absent)}"
        yield Problem(root, "suite-balance", said, severity=Severity.INFO)
    name, most = counts.most_common(1)[0]
    if len(singles) >= SMALL_SUITE and most > LARGE_SHARE * len(singles):
        said = f"{most} of {len(singles)} single tasks are of the class {name}"
        yield Problem(root, "suite-balance", said, severity=Severity.WARNING)


def prompt_notices(fixture: Fixture) -> Iterator[Problem]:
    """Prompts that lean on what the agent does not get, or that give the answer away."""
    prompt = fixture.document.text("prompt")
    line = fixture.document.line("prompt")
    file = str(fixture.path)
    found = ELSEWHERE.search(prompt)
    if found is not None:
        said = f"the prompt speaks of {found[0]!r}, which is not part of it"
        yield Problem(file, "prompt-points-elsewhere", said, line, "/prompt", Severity.WARNING)
    for name in ("ground_truth", "scoring_notes", "adversarial_intent"):
        if runs_of_words(prompt) & runs_of_words(fixture.document.text(name)):
            said = f"the prompt shares {HINT_WORDS} words in a row with {name!r}"
            yield Problem(file, "prompt-hints", said, line, "/prompt", Severity.WARNING)


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """Every run of so many words that it is no accident."""
    words = WORD.findall(text.casefold())
    return {
        tuple(words[start : start + HINT_WORDS]) for start in range(len(words) - HINT_WORDS + 1)
    }


def leaked_prompts(fixtures: Sequence[Fixture]) -> Iterator[Problem]:
    """Holdouts whose prompt is that of a public fixture, and so no longer held out."""
    public = {
        one.document.text("prompt"): one.path
        for one in fixtures
        if one.document.text("visibility") == "public"
    }
    for one in fixtures:
        known = public.get(one.document.text("prompt"))
        if one.document.text("visibility") == "holdout" and known is not None:
            said = f"the prompt of this holdout is that of the public fixture {known}"
            line = one.document.line("prompt")
            yield Problem(
                str(one.path), "holdout-repeats-public", said, line, "/prompt", Severity.WARNING
            )
