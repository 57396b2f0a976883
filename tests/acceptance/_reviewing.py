"""Review as people do it, by the pages: take an item, answer what it asks, let the window pass."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.academy.formats import mypcbench_making as rubrics
from tests.acceptance.base import PASSWORD, Browser, Product, require

FIELD = re.compile(r'name="([vnr]-[^"]+)"')
CHOICE = re.compile(r'name="(v-[^"]+)" value="([^"]+)"')


def rubric_suite(tasks: int) -> dict[str, Any]:
    """Rubric tasks with two criteria each."""
    listed = [
        rubrics.task(
            f"q-{place}",
            grading={
                "type": "llm_judge",
                "rubrics": [rubrics.rubric("Opens it", 0.5), rubrics.rubric("Closes it", 0.5)],
            },
            _world_notes=None,
        )
        for place in range(tasks)
    ]
    return {rubrics.BUCKET: listed}


def unjudged_run(suite: str, name: str, tasks: int, number: int) -> dict[str, Any]:
    """A run that answers every task, on which nobody has decided anything."""
    header = {
        "academy_run": "1.0", "suite": suite, "run_id": f"r-{number}", "entrant": {"name": name},
    }  # fmt: skip
    lines = [
        {"task": f"q-{place}", "status": "answered", "answer": f"did q-{place}"}
        for place in range(tasks)
    ]
    return {f"{number}.run.jsonl": [header, *lines]}


def add_people(product: Product, people: Mapping[str, Sequence[str]]) -> None:
    """Make accounts with roles, all by one command."""
    product.manage(
        "shell",
        "-c",
        "from django.contrib.auth import get_user_model as g;"
        "from academy.models import Membership as M, Organization as O;"
        "o = O.objects.get_or_create(slug='example', defaults={'name': 'Example'})[0];"
        f"[M.objects.create(user=u, organization=o, role=r) for n, rs in {dict(people)!r}.items()"
        f" for u in [g().objects.create_user(n, password={PASSWORD!r})] for r in rs]",
    )


def enter(product: Product, person: str, entrant: str) -> None:
    """Let somebody speak for an entrant: a role in the organisation that enters it."""
    product.manage(
        "shell",
        "-c",
        "from django.contrib.auth import get_user_model as g;"
        "from academy.models import Entrant, Membership as M, Organization as O;"
        f"o = O.objects.get_or_create(slug='of-{entrant}', defaults={{'name': 'A team'}})[0];"
        f"M.objects.create(user=g().objects.get(username={person!r}), organization=o,"
        " role='entrant');"
        f"Entrant.objects.filter(slug={entrant!r}).update(organization=o)",
    )


def queue_number(browser: Browser, title: str, version: str = "") -> int:
    """The number of the queue whose title holds some words, of one version where it is named: all
    checks of one product see the queues of the others."""
    page = browser.get("/review/").text
    for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL):
        found = re.search(r"/review/queues/(\d+)/claim/", row)
        told = html.unescape(row)
        if found and title in told and version in told:
            return int(found[1])
    require(False, f"no queue called {title!r} is on the page of queues")
    raise AssertionError


def take(browser: Browser, queue: int, **fields: str) -> str:
    """Take the next item of a queue; gives the address of the seat."""
    answer = browser.post(f"/review/queues/{queue}/claim/", fields)
    place = answer.headers.get("Location", answer.headers.get("location", ""))
    require("/review/seats/" in place, f"no item was given: {answer.status} to {place!r}")
    return place


def refuses(browser: Browser, queue: int, **fields: str) -> bool:
    """Whether a queue has nothing for this person."""
    answer = browser.post(f"/review/queues/{queue}/claim/", fields)
    place = answer.headers.get("Location", answer.headers.get("location", ""))
    return "/review/seats/" not in place


def submit(browser: Browser, seat: str, answers: Mapping[str, str]) -> None:
    """Send the form of a seat; Failed with what it says when it is not taken."""
    revision = re.search(r'id="revision"[^>]*value="(\d+)"', browser.get(seat).text)
    sent = {"revision": revision[1] if revision else "0", **answers}
    answer = browser.post(f"{seat}submit/", sent)
    told = " ".join(re.findall(r'<p class="errors"[^>]*>([^<]+)', answer.text))
    require(answer.status in (200, 204, 302), f"the form was not taken: {answer.status} {told}")


def questions(browser: Browser, seat: str) -> list[str]:
    """The names of the questions of a form, without their prefixes, in order."""
    page = browser.get(seat)
    require(page.status == 200, f"{seat} gives {page.status}")
    names = (name[2:] for name in FIELD.findall(page.text))
    return list(dict.fromkeys(name for name in names if name != "item"))


def choose(browser: Browser, seat: str, code: str, reason: str, **more: str) -> None:
    """Give every question of a seat the same answer."""
    answers: dict[str, str] = {}
    for name in questions(browser, seat):
        answers |= {f"v-{name}": code, f"r-{name}": reason}
        answers |= {f"{prefix}-{name}": value for prefix, value in more.items()}
    submit(browser, seat, answers)


def measure(browser: Browser, seat: str, value: str, reason: str) -> None:
    """Give every question of a seat the same number."""
    answers: dict[str, str] = {}
    for name in questions(browser, seat):
        answers |= {f"n-{name}": value, f"r-{name}": reason}
    submit(browser, seat, answers)
