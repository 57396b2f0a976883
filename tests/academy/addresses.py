"""Every address of the site, filled with rows that are there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from academy import registry
from academy.models import AnswerKey, Entrant, Run, SuiteVersion, TaskAsset
from academy.registry import all_schemas
from adjudication import digesting
from adjudication.models import Queue, Seat
from leaderboard.models import Board, Certificate, Snapshot
from tests.academy.walls import TOKEN


@dataclass(frozen=True, slots=True)
class Route:
    """One address of the site, as its pattern is written; `view` names it in messages."""

    pattern: str
    view: str


@cache
def routes() -> tuple[Route, ...]:
    """Every address that the site answers at."""
    return tuple(walk(get_resolver().url_patterns, "", ""))


def walk(patterns: Iterable[Any], before: str, space: str) -> Iterator[Route]:
    """The addresses below some patterns."""
    for entry in patterns:
        if not isinstance(entry.pattern, RoutePattern):
            # Django's own catch-all pages and the list of an app's models.
            written = f"{before}{REGEX}{entry.pattern}"
        else:
            written = f"{before}{entry.pattern}"
        if isinstance(entry, URLResolver):
            yield from walk(entry.url_patterns, written, entry.namespace or space)
        elif isinstance(entry, URLPattern):
            yield Route(written, f"{space}:{entry.name}")


REGEX = "regex "
Filled = list[dict[str, Any]]


def rows(model: type[Model], *names: str, most: int = 3) -> Filled:
    """Arguments from real rows, the first and the last of them."""
    fields = {name: name.rpartition("__")[2] for name in names}
    found = list(model._default_manager.order_by("pk").values(*names))  # type: ignore[attr-defined]
    chosen = found if len(found) <= most else [*found[: most // 2], *found[-(most - most // 2) :]]
    return [{fields[name]: value for name, value in row.items()} for row in chosen]


def of_versions() -> Filled:
    return [
        {"slug": version.suite.slug, "name": version.name}
        for version in SuiteVersion.objects.select_related("suite").order_by("pk")
    ]


def of_boards() -> Filled:
    """The board of a sealed version, and one with costs."""
    chosen = Board.objects.filter(versions__sealed=True, policy__mode="strict")
    dear = Board.objects.filter(policy__mode="reference")
    return [{"slug": board.slug} for board in (*chosen.order_by("pk")[:1], *dear[:1])]


def of_snapshots() -> Filled:
    return [
        {**board, "number": number}
        for board in of_boards()
        for number in Snapshot.objects.filter(board__slug=board["slug"]).values_list(
            "number", flat=True
        )
    ]


def of_passes() -> Filled:
    return [{**named, "number": number} for named in of_versions() for number in (1,)]


def of_tasks() -> Filled:
    """The first and the last task of every version, which is held out in the sealed one."""
    return [
        {**named, "ordinal": ordinal}
        for version, named in zip(SuiteVersion.objects.order_by("pk"), of_versions(), strict=True)
        for ordinal in (0, version.tasks.count() - 1)
    ]


def of_runs() -> Filled:
    """One run of each entrant, and one that the site made itself."""
    own = Run.objects.exclude(kind="entrant").order_by("pk").values("pk")[:1]
    return [*Run.objects.filter(kind="entrant").order_by("pk").values("pk")[:4], *own]


def of_exports() -> Filled:
    """A sealed and an open run in every format that could write it."""
    forms = [key for key, fmt in registry.all_formats().items() if fmt.export_run]
    return [{**run, "form": form} for run in of_runs()[:2] for form in forms]


def of_exported() -> Filled:
    """All that rows can be exported of: of each kind a few, the sealed among them."""
    return [
        {"kind": kind, "subject": row["pk"]}
        for kind, model in (("run", Run), ("board", Board), ("verdicts", Queue))
        for row in rows(model, "pk")
    ]


def of_keys() -> Filled:
    """A sealed key of each version."""
    found = AnswerKey.objects.order_by("task__version", "pk").distinct("task__version")
    return [{"object_id": pk} for pk in found.values_list("pk", flat=True)]


def of_admin_tasks() -> Filled:
    """A task that is held out, and one that is not published."""
    held = apps.get_model("academy.Task").objects.order_by("pk")
    chosen = [held.filter(holdout=True)[0], held.filter(version__state="draft")[0]]
    return [{"object_id": task.pk} for task in chosen]


def of_files() -> Filled:
    """A file of a task beside every seat."""
    asset = TaskAsset.objects.order_by("pk")[0].pk
    return [{**seat, "asset": asset} for seat in of_seats()]


def of_seats() -> Filled:
    """A few seats, and those that somebody holds."""
    return [*rows(Seat, "pk"), *Seat.objects.filter(state="held").order_by("pk").values("pk")]


def of_rows(label: str) -> Callable[[], Filled]:
    return lambda: rows(apps.get_model(label), "pk")


def of_pictures(label: str) -> Callable[[], Filled]:
    """Pictures of what a page shows, each as if its record had that one."""
    return lambda: [{**row, "digest": "0" * 64} for row in rows(apps.get_model(label), "pk")]


# The longest beginning of an address that is listed here says where its arguments come from.
ARGUMENTS: dict[str, Callable[[], Filled]] = {
    "suites/<slug:slug>/": lambda: rows(apps.get_model("academy.Suite"), "slug"),
    "suites/<slug:slug>/<str:name>/": of_versions,
    "suites/<slug:slug>/<str:name>/passes/<int:number>/": of_passes,
    "suites/<slug:slug>/<str:name>/tasks/<int:ordinal>/": of_tasks,
    "api/v1/suites/<slug:slug>/versions/<str:name>/": of_versions,
    "api/v1/suites/<slug:slug>/versions/<str:name>/passes/<int:number>/": of_passes,
    "entrants/<slug:slug>/": lambda: rows(Entrant, "slug"),
    "schemas/<slug:name>.json": lambda: [{"name": name} for name in all_schemas()],
    "runs/<int:pk>/": of_runs,
    "runs/<int:pk>/as-<slug:form>.zip": of_exports,
    "records/<int:pk>/": lambda: rows(apps.get_model("academy.InstanceRecord"), "pk", most=4),
    "records/<int:pk>/pictures/": of_pictures("academy.InstanceRecord"),
    "review/seats/<int:pk>/pictures/": of_pictures("adjudication.Seat"),
    "review/items/<int:pk>/pictures/": of_pictures("adjudication.ReviewItem"),
    "assets/<int:pk>": lambda: rows(TaskAsset, "pk"),
    "boards/<slug:slug>/": of_boards,
    "api/v1/boards/<slug:slug>/": of_boards,
    "api/v1/boards/<slug:slug>/snapshots/<int:number>/": of_snapshots,
    "exports/<slug:kind>/<int:subject>/": of_exported,
    "exports/<uuid:pk>/": of_rows("academy.BulkExport"),
    "imports/<uuid:pk>/": of_rows("academy.BulkImport"),
    "exports/<uuid:pk>/file": of_rows("academy.BulkExport"),
    "exports/<uuid:pk>/sha256": of_rows("academy.BulkExport"),
    "admin/adjudication/queue/<int:pk>/gold/": lambda: rows(Queue, "pk"),
    # An ordinary item: it may not be retired, and says so without its verdicts.
    "admin/adjudication/queue/<int:pk>/gold/<int:item>/retire/": lambda: [
        {"pk": row["queue_id"], "item": row["pk"]}
        for row in rows(apps.get_model("adjudication.ReviewItem"), "queue_id", "pk")
    ],
    "boards/<slug:slug>/snapshots/<int:number>/": of_snapshots,
    "review/queues/<int:pk>/": lambda: rows(Queue, "pk"),
    "review/seats/<int:pk>/": of_seats,
    "review/seats/<int:pk>/files/<int:asset>": of_files,
    "review/items/<int:pk>/": of_rows("adjudication.ReviewItem"),
    "review/findings/<int:pk>/": of_rows("academy.Finding"),
    "review/appeals/<int:pk>/": of_rows("adjudication.Appeal"),
    "review/runs/<int:pk>/appeals/": of_runs,
    "review/records/<int:pk>/appeal/": lambda: rows(
        apps.get_model("academy.InstanceRecord"), "pk", most=4
    ),
    "review/keys/<slug:slug>/<str:name>/": of_versions,
    "review/invitations/<int:pk>/": of_rows("adjudication.Invitation"),
    # The last is posted to: it may not give anybody a role.
    "review/invited/<str:token>/": lambda: [{"token": TOKEN}, {"token": "of-nobody"}],
    "review/unsubscribe/<str:token>/": lambda: [
        {"token": digesting.unsubscribe_token(user)} for user in User.objects.order_by("pk")[:1]
    ],
    "certificates/<slug:serial>": lambda: rows(Certificate, "serial"),
    "admin/academy/answerkey/<path:object_id>/": of_keys,
    "admin/academy/task/<path:object_id>/": of_admin_tasks,
    "admin/r/<path:content_type_id>/<path:object_id>/": lambda: [
        {
            "content_type_id": ContentType.objects.get_for_model(Run).pk,
            "object_id": Run.objects.order_by("pk").values_list("pk", flat=True)[0],
        }
    ],
}


# What pages read from the query, by the address.
QUERIES: dict[str, tuple[str, ...]] = {
    "suites/": ("?page=2", "?q=t-1"),
    "suites/<slug:slug>/<str:name>/": ("?page=2",),
    "suites/<slug:slug>/<str:name>/keys/": ("?open=0", "?open=1", "?open=11"),
    "suites/<slug:slug>/<str:name>/judges/": ("?estimate=1",),
    "suites/<slug:slug>/<str:name>/passes/": ("?pass=1",),
    "runs/": ("?page=2", "?q=e"),
    "runs/<int:pk>/": ("?outcome=failed", "?outcome=unscorable", "?after=1"),
    "records/<int:pk>/": (
        "?from=0",
        "?from=1&step=1&chars=99999",
        "?view=raw",
        "?view=record",
        "?q=a&at=1&jump=0",
        "?kind=tool_call&errors=1&tool=0&role=0",
    ),
    "review/seats/<int:pk>/": ("?view=raw", "?view=record", "?q=e", "?tool=0"),
    "boards/<slug:slug>/": ("?slice=competency%3Darea-takeoff", "?sort=score", "?mode=reference"),
    "boards/<slug:slug>/standings.csv": ("?raw=1",),
    "search/": ("?q=t-11", "?q=31946", "?q=anary", "?q=Measure"),
    "compare/": ("?a=1&b=2", "?runs=1&runs=2"),
    "admin/academy/answerkey/": ("?q=t-1",),
    "admin/academy/task/": ("?q=t-1",),
}


ARGUMENT = re.compile(r"<(?:(\w+):)?(\w+)>")


def model_of_admin(pattern: str) -> type[Model] | None:
    """The model whose pages an address of the admin belongs to."""
    parts = pattern.split("/")
    if len(parts) > 2 and parts[0] == "admin":
        try:
            return apps.get_model(parts[1], parts[2])
        except LookupError:
            return None
    return None


def of_admin(model: type[Model]) -> Filled:
    """Rows of a model for its pages in the admin; a table may be empty."""
    found = [row["pk"] for row in rows(model, "pk", most=1)]
    return [{"object_id": pk, "id": pk} for pk in found or [0]]


def longest(table: Mapping[str, Any], pattern: str) -> Any:
    """The entry of the longest listed beginning of an address."""
    matching = [start for start in table if pattern.startswith(start)]
    return table[max(matching, key=len)] if matching else None


def paths_of(route: Route) -> list[str]:
    """Real addresses of a route. Raises LookupError when nothing says how to fill it."""
    pattern = route.pattern
    if REGEX in pattern:
        return ["/admin/academy/", "/admin/nobody-knows/"]
    wanted = {name for _kind, name in ARGUMENT.findall(pattern)}
    if not wanted:
        return [f"/{pattern}"]
    source = longest(ARGUMENTS, pattern)
    if source is None and (model := model_of_admin(pattern)) is not None:
        source = partial(of_admin, model)
    given = source() if source is not None else []
    lacking = wanted - set(given[0] if given else ())
    if lacking:
        raise LookupError(
            f"{pattern} ({route.view}): nothing in walls.ARGUMENTS fills {sorted(lacking)}"
        )
    return [
        "/" + ARGUMENT.sub(lambda found, row=row: str(row[found[2]]), pattern)  # type: ignore[misc]
        for row in given
    ]


def variants_of(route: Route) -> tuple[str, ...]:
    """The queries by which an address is asked."""
    return ("", *QUERIES.get(route.pattern, ()))
