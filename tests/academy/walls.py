"""A small world with secrets in it, and everybody who may ask."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from academy import bulk_exporting, bulk_importing, publishing
from academy.models import AnswerKey, Finding, InstanceRecord, Organization, Run, SuiteVersion
from adjudication import assigning, inviting, key_kind
from adjudication.kinds import NewItem
from adjudication.models import Appeal, Invitation, Queue
from leaderboard import certifying
from leaderboard.models import Board
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
