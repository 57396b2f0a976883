"""The questions asked of boards and their snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Exists, OuterRef, Subquery
from django.db.models.functions import Cast, Concat, JSONObject

from academy.querysets import sees_drafts
from academy.statements import bound_cursor

OWED = ("ready", "leased")
RELEASES = 12
# No board is called so.
ANY_SLUG = "?"
# What a page's head says of a board; the rest is read when the page is made.
HEAD = ("id", "slug", "title", "description", "is_example")
NEWEST = ("newest_number", "newest_digest", "newest_at", "is_stale")


class BoardQuerySet(models.QuerySet[Any]):
    """Boards."""

    def visible_to(self, user: Any) -> Self:
        """Boards over at least one version that this person may see."""
        if sees_drafts(user):
            return self
        through = self.model.versions.through.objects
        public = through.filter(
            board=OuterRef("pk"), suiteversion__state__in=("published", "retired")
        )
        return self.filter(Exists(public))

    def with_newest(self) -> Self:
        """Boards with number, digest and time of the newest public snapshot, and whether work is
        owed that may change it: all that a page's ETag rests on, in one query."""
        snapshots = (
            apps.get_model("leaderboard", "Snapshot")
            .objects.filter(board=OuterRef("pk"), published_at__isnull=False)
            .order_by("-number")
        )
        work = apps.get_model("academy", "Work").objects.filter(state__in=OWED)
        own = work.filter(
            key=Concat(models.Value("publish_board:"), Cast(OuterRef("pk"), models.CharField()))
        )
        versions = self.model.versions.through.objects.filter(board=OuterRef(OuterRef("pk")))
        of_runs = work.filter(
            kind__in=("score", "aggregate"),
            run__version__in=versions.values("suiteversion"),
        )
        return self.annotate(
            newest_number=Subquery(snapshots.values("number")[:1]),
            newest_digest=Subquery(snapshots.values("digest")[:1]),
            newest_at=Subquery(snapshots.values("published_at")[:1]),
            is_stale=Exists(own) | Exists(of_runs),
        )

    def newest_by_slug(self, slug: str, user: Any) -> Any:
        """The board of this name `with_newest`; DoesNotExist where this person may see none.

        One query. For readers whom nobody knows it is not composed anew each time, which takes
        longer than asking it.
        """
        if user.is_authenticated:
            return self.visible_to(user).with_newest().get(slug=slug)
        known = public_board_sql()
        asked = [slug if one == ANY_SLUG else one for one in known.parameters]
        with bound_cursor() as cursor:
            cursor.execute(known.sql, asked)
            row = cursor.fetchone()
        if row is None:
            raise self.model.DoesNotExist
        board = self.model.from_db(self.db, known.fields, row[: len(known.fields)])
        for name, value in zip(NEWEST, row[len(known.fields) :], strict=True):
            setattr(board, name, value)
        return board


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A query put together once, with ANY_SLUG among its parameters, and the fields it begins
    with; the annotations follow."""

    sql: str
    parameters: tuple[Any, ...]
    fields: tuple[str, ...]


@cache
def public_board_sql() -> KnownQuery:
    """The query of one board for readers whom nobody knows."""
    boards = apps.get_model("leaderboard", "Board").objects
    asked = boards.visible_to(AnonymousUser()).with_newest().filter(slug=ANY_SLUG).only(*HEAD)
    sql, parameters = asked.query.sql_with_params()
    return KnownQuery(sql, tuple(parameters), HEAD)


class SnapshotQuerySet(models.QuerySet[Any]):
    """Snapshots."""

    def public(self) -> Self:
        """Those that are published."""
        return self.filter(published_at__isnull=False)

    def with_releases(self) -> Self:
        """Snapshots with number and time of the newest of their board, the newest first: what a
        page offers to choose from, without a further query."""
        newest = (
            self.model.objects.filter(board=OuterRef("board"), published_at__isnull=False)
            .order_by("-number")
            .values(told=JSONObject(number="number", at="published_at"))[:RELEASES]
        )
        return self.annotate(releases=ArraySubquery(newest))

    def newest_of(self, boards: Iterable[Any]) -> dict[int, Any]:
        """The newest public snapshot of each board, by the board's key, without its rows."""
        found = (
            self.public()
            .filter(board__in=boards)
            .order_by("board_id", "-number")
            .distinct("board_id")
            .defer("rows_html")
        )
        return {snapshot.board_id: snapshot for snapshot in found}
