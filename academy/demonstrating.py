"""The example content: two invented suites with runs, and people to try every role with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.db import connection

from academy import auditing, intake, publishing, work
from academy.errors import AcademyError
from academy.importing import ImportOptions
from academy.models import AuditEvent, Entrant, Membership, Organization, Suite, SuiteVersion
from academy.models.people import Role
from academy.recording import RecordingOptions

FOLDER = Path(__file__).resolve().parent / "examples"
PASSWORD = "example"
ACT = "examples.load"
REGISTRY, LAB = "example-registry", "example-lab"
ORGANIZATIONS = {REGISTRY: "Example Registry", LAB: "Example Lab"}


@dataclass(frozen=True, slots=True)
class Person:
    """An account of the examples, and what its role lets one try."""

    name: str
    organization: str
    role: Role
    hint: str


PEOPLE = (
    Person("curator", REGISTRY, Role.CURATOR, "imports and publishes suites at /admin/"),
    Person("reviewer", REGISTRY, Role.REVIEWER, "decides criteria at /review/"),
    Person(
        "reviewer2",
        REGISTRY,
        Role.REVIEWER,
        "a second one, who is never offered what the first holds",
    ),
    Person("adjudicator", REGISTRY, Role.ADJUDICATOR, "takes items as reviewers do"),
    Person("auditor", REGISTRY, Role.AUDITOR, "sees drafts and every run, and nothing sealed"),
    Person("entrant", LAB, Role.ENTRANT, "sees the runs of the own organisation in every state"),
)


@dataclass(frozen=True, slots=True)
class ExampleSuite:
    """A suite of the examples. Title and description stand where its own files have none."""

    slug: str
    version: str
    title: str
    description: str
    evidence: dict[str, dict[str, str]] | None = None


SUITES = (
    ExampleSuite("example-floor-plans", "1", "", ""),
    ExampleSuite(
        "example-desktop",
        "1",
        "Example desktop tasks",
        "Eight invented tasks on a simulated desktop, made to show how Academy works. Two runs "
        "were judged; one waits for people.",
        # The judge counts where it was asked, so that only the run without a judge waits.
        evidence={"reference": {"kind": "reference"}, "strict": {"kind": "reference"}},
    ),
)


@work.owing()
def load_examples() -> bool:
    """Load suites, runs and accounts, once and all together; False when that was done before.

    The runs are scored by whoever drains the work. Raises AcademyError in production, where
    accounts whose password everybody knows must not exist.
    """
    if settings.PRODUCTION:
        raise AcademyError("The examples bring accounts with a known password: not in production.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(7301)")
    if was_loaded():
        return False
    organizations = {
        slug: Organization.objects.get_or_create(slug=slug, defaults={"name": name})[0]
        for slug, name in ORGANIZATIONS.items()
    }
    accounts = make_accounts(organizations)
    for example in SUITES:
        version = load_suite(example, organizations[REGISTRY], by=accounts.get("curator"))
        load_runs(version, account=accounts.get("entrant"))
    Entrant.objects.filter(is_example=True).update(organization=organizations[LAB])
    auditing.note(ACT, "examples", reason="the examples were loaded")
    return True


def was_loaded() -> bool:
    """Whether the examples were ever loaded here; removed ones do not come back."""
    return AuditEvent.objects.filter(act=ACT).exists()


def make_accounts(organizations: dict[str, Organization]) -> dict[str, Any]:
    """The accounts of the examples by name; an account that exists already is left alone."""
    accounts = {}
    users = get_user_model().objects
    hashed = make_password(PASSWORD)
    for person in PEOPLE:
        user, is_new = users.get_or_create(
            username=person.name,
            defaults={"password": hashed, "is_staff": person.role == Role.CURATOR},
        )
        if not is_new:
            continue
        Membership.objects.create(
            user=user, organization=organizations[person.organization], role=person.role
        )
        accounts[person.name] = user
    return accounts


def load_suite(example: ExampleSuite, organization: Organization, *, by: Any) -> SuiteVersion:
    """Import and publish one suite."""
    attributes = {"evidence": example.evidence} if example.evidence else {}
    intake.import_suite_path(
        FOLDER / "suites" / example.slug,
        options=ImportOptions(
            rename=(example.slug, example.version),
            by=by,
            is_example=True,
            reason="an example",
            attributes=attributes,
        ),
    )
    version = SuiteVersion.objects.select_related("suite").get(
        suite__slug=example.slug, name=example.version
    )
    Suite.objects.filter(pk=version.suite_id).update(is_example=True, organization=organization)
    if example.title:
        texts = {"title": example.title, "description": example.description}
        Suite.objects.filter(pk=version.suite_id).update(**texts)
        SuiteVersion.objects.filter(pk=version.pk).update(**texts)
    return publishing.publish_version(version, by=by, reason="an example")


def load_runs(version: SuiteVersion, *, account: Any) -> None:
    """Import the runs of one suite; their scoring is owed."""
    intake.import_run_path(
        FOLDER / "runs" / version.suite.slug,
        options=RecordingOptions(
            version=version, account=account, is_example=True, name=f"{version.suite.slug} runs"
        ),
    )


def logins() -> list[str]:
    """One line for each account of the examples that is here, with what to try."""
    if not was_loaded():
        return []
    held = set(
        Membership.objects.filter(organization__slug__in=ORGANIZATIONS).values_list(
            "user__username", "role"
        )
    )
    width = max(len(person.name) for person in PEOPLE)
    return [
        f"{person.name:<{width}} / {PASSWORD} – {person.hint}"
        for person in PEOPLE
        if (person.name, str(person.role)) in held
    ]
