"""Search over boards, entrants, suites and tasks: words by full text, slips by trigrams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.postgres.search import (
    SearchQuery,
    SearchRank,
    SearchVector,
    TrigramWordSimilarity,
)
from django.db.models import BooleanField, F, FloatField, Q, QuerySet, TextField, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Concat

from academy.models import Entrant, Suite, SuiteVersion, Task
from leaderboard.models import Board

MOST = 10
LONGEST = 200
ALIKE = 0.5


def search(text: str, user: Any) -> dict[str, list[Any]]:
    """What this person may see and that fits, best first, at most ten of each kind.

    The words of a task's prompt count, those of held-out tasks only for who may see them.
    """
    words = " ".join(text.replace("\x00", " ").split())[:LONGEST]
    if not words:
        return {"boards": [], "entrants": [], "suites": [], "tasks": []}
    return {
        "boards": _alike(Board.objects.visible_to(user), words, "title", "slug", "description"),
        "entrants": _alike(
            Entrant.objects.visible_to(user), words, "name", "slug", "model", "developer", "harness"
        ),
        "suites": _alike(Suite.objects.visible_to(user), words, "title", "slug", "description"),
        "tasks": _tasks(user, words),
    }


def versions_of(found: Mapping[str, list[Any]]) -> QuerySet[SuiteVersion]:
    """The versions that what was found is of, as far as these are public."""
    return SuiteVersion.objects.exclude(state=SuiteVersion.State.DRAFT).filter(
        Q(boards__in=found["boards"]) | Q(suite__in=found["suites"]) | Q(tasks__in=found["tasks"])
    )


def _alike(rows: QuerySet[Any], words: str, *fields: str) -> list[Any]:
    """Rows whose texts hold all words, or are like them; those with the words in them first."""
    parts = [part for name in fields for part in (F(name), Value(" "))][:-1]
    text = Concat(*parts, output_field=TextField())
    query = SearchQuery(words, config="simple", search_type="websearch")
    found = rows.annotate(
        likeness=TrigramWordSimilarity(words, text),
        fit=SearchRank(SearchVector(*fields, config="simple"), query),
    ).filter(Q(likeness__gte=ALIKE) | Q(fit__gt=0))
    return list(found.order_by((F("likeness") + F("fit")).desc(), "pk")[:MOST])


# Word for word the expressions of the indexes, so that these serve.
TASK_WORDS = (
    "to_tsvector('simple', academy_task.external_id || ' ' || academy_task.title || ' ' || "
    "left(academy_task.prompt, 20000))"
)
TASK_NAME = "(academy_task.external_id || ' ' || academy_task.title)"


def _tasks(user: Any, words: str) -> list[Task]:
    hit = RawSQL(
        f"({TASK_WORDS} @@ websearch_to_tsquery('simple', %s) OR %s <%% {TASK_NAME})",
        [words, words],
        output_field=BooleanField(),
    )
    rank = RawSQL(
        f"(ts_rank({TASK_WORDS}, websearch_to_tsquery('simple', %s))"
        f" + word_similarity(%s, {TASK_NAME}))",
        [words, words],
        output_field=FloatField(),
    )
    tasks = Task.objects.visible_to(user).select_related("version__suite").alias(hit=hit)
    return list(tasks.filter(hit=True).annotate(fit=rank).order_by("-fit", "pk")[:MOST])
