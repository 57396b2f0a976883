"""A small world with secrets in it, every address of the site, and everybody who may ask."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern
from django.utils import timezone

from academy import bulk_exporting, bulk_importing, publishing, registry
from academy.models import (
    AnswerKey,
    Entrant,
    Finding,
    InstanceRecord,
    Organization,
    Run,
    SuiteVersion,
    TaskAsset,
)
from academy.registry import all_schemas
from adjudication import assigning, digesting, inviting, key_kind
from adjudication.kinds import NewItem
from adjudication.models import Appeal, Invitation, Queue, Seat
from leaderboard import certifying
from leaderboard.models import Board, Certificate, Snapshot
from tests import factories as make

# Each secret is planted in one kind of place; the value stands for a key's number.
KEY = "canary-kestrel"
KEY_VALUE = 731946.25
NOTES = "canary-notes-heron"
HOLDOUT = "canary-holdout-osprey"
DRAFT = "canary-draft-merlin"
VALUE = re.compile(r"731[,.   _]?946")
TOKEN = "a-token-of-an-invitation"

ROLES = ("entrant", "reviewer", "adjudicator", "auditor", "curator")
PEOPLE = ("anonymous", "stranger", "clerk", "seated", *ROLES)
KNOWS: Mapping[str, frozenset[str]] = {
    "curator": frozenset({"key", "holdout", "draft", "notes"}),
    "auditor": frozenset({"draft"}),
    "seated": frozenset({"notes"}),
}


class Browser(Client):
    """A client that keeps no copies of what templates were given, which take most of the time."""

    def request(self, **request: Any) -> Any:
        """Ask, and keep the cookies."""
        response = self.handler(self._base_environ(**request))
        self.cookies.update(response.cookies)
        return response


@dataclass(slots=True)
class World:
    """What the walls stand around. `salts` are those of every answer key."""

    sealed: SuiteVersion
    rubrics: SuiteVersion
    draft: SuiteVersion
    sealed_run: Run
    rubric_run: Run
    open_run: Run
    draft_run: Run
    people: dict[str, Any] = field(default_factory=dict)
    salts: tuple[str, ...] = ()

    def client(self, who: str) -> Client:
        """A browser of one of the people."""
        client = Browser(raise_request_exception=False)
        if who != "anonymous":
            client.force_login(self.people[who])
        return client


def sealed_files() -> dict[str, Any]:
    """A ranked suite of twelve tasks whose keys, raters and source files hold the secret."""
    contents = make.sealed_files(12, slug="walls")
    contents["drawing.svg"] = (
        b"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'>"
        b"<rect width='20' height='10' fill='#888'/></svg>"
    )
    for path, document in contents.items():
        if path.startswith("keys/"):
            document["quantities"][0]["value"] = KEY_VALUE
            document["quantities"][0]["raters"] = [
                {"by": f"{KEY}-one", "value": KEY_VALUE},
                {"by": f"{KEY}-two", "value": KEY_VALUE},
            ]
            document["validatedBy"] = KEY
            document["scoringNotes"] = KEY
        elif path.endswith(".task.json"):
            document["planset"]["assetRef"] = "drawing.svg"
            document["planset"]["assetHash"] = make.sha256(contents["drawing.svg"])
    return contents


def draft_files() -> dict[str, Any]:
    """A suite that nobody has published, with the secret in what its tasks say."""
    tasks = [
        make.takeoff_task(f"t-{place}", slug="unpublished", title=DRAFT, prompt=DRAFT)
        for place in range(2)
    ]
    return make.takeoff_files(tasks, slug="unpublished", title=DRAFT, description=DRAFT)


def rubric_files() -> dict[str, Any]:
    """Rubric tasks with notes for graders."""
    tasks = [make.rubric_task(f"q-{place}", _world_notes=NOTES) for place in range(3)]
    return {make.rubrics.BUCKET: tasks}


def build() -> World:
    """Import, run and score everything, and let one reviewer take a seat."""
    sealed = make.version_of(make.import_files(sealed_files()))
    for task in sealed.tasks.order_by("-ordinal")[:2]:
        task.holdout, task.prompt, task.title = True, HOLDOUT, HOLDOUT
        task.save()
    publishing.publish_version(sealed, reason="ready")
    rubrics = make.version_of(
        make.import_files(rubric_files(), rename=("notes", "1"), publish=True)
    )
    draft = make.version_of(make.import_files(draft_files()))
    world = World(
        sealed=sealed,
        rubrics=rubrics,
        draft=draft,
        sealed_run=make.takeoff_run(sealed, name="Sealed entrant"),
        rubric_run=make.run_of(
            make.record_files(
                make.line_run(make.judged("q-0", True, True), make.judged("q-1")), rubrics
            )
        ),
        open_run=make.run_of(
            make.record_files(
                make.line_run(
                    make.judged("q-0"), entrant={"name": "Unfinished"}, run_id="o-1", closed=False
                ),
                rubrics,
            )
        ),
        draft_run=make.takeoff_run(draft, name="Early entrant"),
    )
    for name, cost in (("Thrifty", 0.01), ("Lavish", 0.5)):
        lines = [make.judged(f"q-{place}", True, True) for place in range(3)]
        costly = [{**line, "usage": {"cost": cost}} for line in lines]
        make.record_files(make.line_run(*costly, entrant={"name": name}, run_id=name), rubrics)
    organization = Organization.objects.create(slug="entering", name="Entering")
    for run in Run.objects.select_related("entrant"):
        run.entrant.organization = organization
        run.entrant.save()
    world.people = {
        "stranger": make.person("stranger"),
        "clerk": make.person("clerk", is_staff=True),
        "seated": make.person("seated", "reviewer"),
        **{role: make.person(role, role) for role in ROLES if role != "entrant"},
        "entrant": make.person("entrant", "entrant", organization=organization),
    }
    licensed = make.takeoff_version(3, slug="licensed")
    make.takeoff_run(licensed, name="Licensed")
    make.score_all()
    newest = licensed.boards.get().newest_snapshot()
    certifying.issue(newest, "licensed", by=None, reason="looked at the run")
    take_a_seat(world)
    add_subjects(world)
    ask_exports(world)
    world.salts = tuple(AnswerKey.objects.values_list("salt", flat=True))
    return world


def take_a_seat(world: World) -> None:
    """Let one reviewer claim an item, as they do by the button."""
    client = world.client("seated")
    for queue in Queue.objects.filter(version=world.rubrics, kind="criteria"):
        client.post(f"/review/queues/{queue.pk}/claim/")


def add_subjects(world: World) -> None:
    """A finding, appeals and measured keys that speak of what is sealed; an invitation."""
    finding = Finding.objects.create(
        run=world.sealed_run,
        code="near-reference",
        sentence=f"The answer is {KEY}.",
        severity="high",
        state="asked",
    )
    appellant = make.person("appellant")
    for run, text in ((world.sealed_run, KEY), (world.rubric_run, "Look again.")):
        record = InstanceRecord.objects.of_run(run.pk).order_by("id")[0]
        criterion = record.task.criteria.order_by("pk").first()
        appeal = Appeal.objects.create(
            record=record, criterion=criterion, opened_by=appellant, text=text
        )
        queue = assigning.make_queue(run.version, "appeals", preset="one")
        assigning.add_items(queue, [NewItem(appeal=appeal)])
    queue, _made = Queue.objects.get_or_create(version=world.sealed, kind="findings")
    assigning.add_items(queue, [NewItem(finding=finding)])
    key_kind.make_key_queue(world.sealed, raters=2, by=world.people["curator"])
    # The last one is taken back by whoever may.
    for token in (TOKEN, f"{TOKEN}-more"):
        Invitation.objects.create(
            token_digest=inviting.digest_of(token),
            organization=Organization.objects.get(slug="entering"),
            created_by=world.people["curator"],
            expires_at=timezone.now() + timedelta(days=3),
        )


def ask_exports(world: World) -> None:
    """Let a reader and a curator have exports made of what is scored."""
    board = Board.objects.filter(versions=world.rubrics).order_by("pk")[0]
    bulk_exporting.request_export("run", world.rubric_run.pk, "csv")
    curator = world.people["curator"]
    bulk_exporting.request_export("run", world.rubric_run.pk, "jsonl", by=curator)
    bulk_exporting.request_export("board", board.pk, "jsonl")
    told = json.dumps({"key": KEY}).encode()
    bulk_importing.keep_upload(
        "suites", "sealed.json", io.BytesIO(told), size=len(told), choices={}, by=curator
    )
    make.score_all()


def secrets_in(text: str, world: World) -> set[str]:
    """The secrets that a text gives away."""
    found = {
        name
        for name, secret in (
            ("key", KEY),
            ("notes", NOTES),
            ("holdout", HOLDOUT),
            ("draft", DRAFT),
        )
        if secret in text
    }
    if VALUE.search(text):
        found.add("key")
    if any(salt in text for salt in world.salts):
        found.add("salt")
    return found


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
