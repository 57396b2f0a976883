"""A key that several raters made together counts once a curator says so, by name and reason."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from academy import confirming, keying, passes, publishing, specs
from academy.errors import AcademyError
from academy.models import AuditEvent, Exposure, KeyConfirmation, SuiteVersion
from tests import factories as make

pytestmark = pytest.mark.django_db
MEASURED = (7301, 7302, 7309)


def key_folder(tmp_path: Path) -> Path:
    """Keys of two tasks: one that a person states, one that three raters measured."""
    stated = {"item": "t-0", "unit": "sf", "value": 10}
    raters = [{"by": f"rater {n}", "value": value} for n, value in enumerate(MEASURED)]
    rated = {"item": "t-1", "unit": "sf", "raters": raters}
    for name, quantity in (("t-0", stated), ("t-1", rated)):
        document = {"taskId": name, "quantities": [quantity]}
        (tmp_path / f"{name}.groundtruth.json").write_text(json.dumps(document))
    return tmp_path


@pytest.fixture
def version(tmp_path: Path) -> SuiteVersion:
    tasks = [make.takeoff_task(f"t-{n}", slug="held", groundTruth=None) for n in range(2)]
    files = make.takeoff_files(tasks, slug="held", keys="withheld")
    made = make.version_of(make.import_files(files))
    report = keying.load_key_path(made, key_folder(tmp_path))
    assert report.to_confirm == ("t-1",)
    return made


def waiting(version: SuiteVersion) -> list[str]:
    keys = specs.latest_keys(version).values()
    return [key.task.external_id for key in confirming.unconfirmed(version, keys)]


def test_a_version_is_not_published_on_a_consensus_that_nobody_confirmed(
    version: SuiteVersion,
) -> None:
    with pytest.raises(AcademyError, match="keys of t-1 in held@1.0 are a consensus"):
        publishing.publish_version(version, reason="early")
    keys = [specs.latest_keys(version)[version.tasks.get(external_id="t-1").pk]]
    with pytest.raises(AcademyError, match="Only a curator"):
        confirming.confirm(keys, by=make.person("rita", "reviewer"), reason="fine")
    carol = make.person("carol", "curator")
    with pytest.raises(AcademyError, match="needs a reason"):
        confirming.confirm(keys, by=carol, reason=" ")
    assert confirming.confirm(keys, by=carol, reason="I measured it too") == 1
    assert confirming.confirm(keys, by=carol, reason="again") == 0
    confirmed = KeyConfirmation.objects.get()
    assert (confirmed.person, confirmed.reason) == (carol, "I measured it too")
    assert AuditEvent.objects.filter(act="key.confirm", actor=carol).count() == 1
    publishing.publish_version(version, reason="confirmed")
    version.refresh_from_db()
    assert version.state == "published"


def test_a_stated_value_needs_no_confirmation_and_cannot_have_one(version: SuiteVersion) -> None:
    stated = specs.latest_keys(version)[version.tasks.get(external_id="t-0").pk]
    with pytest.raises(AcademyError, match="task t-0 in held@1.0 is no consensus"):
        confirming.confirm([stated], by=make.person("carol", "curator"), reason="why not")


def test_a_corrected_consensus_waits_again_and_holds_its_pass_back(
    version: SuiteVersion, tmp_path: Path
) -> None:
    carol = make.person("carol", "curator")
    confirming.confirm(
        [key for key in specs.latest_keys(version).values() if key.task.external_id == "t-1"],
        by=carol,
        reason="good",
    )
    publishing.publish_version(version, reason="confirmed")
    path = tmp_path / "t-1.groundtruth.json"
    document = json.loads(path.read_text())
    document["quantities"][0]["raters"][2]["value"] = 7300
    path.write_text(json.dumps(document))
    report = keying.load_key_path(version, tmp_path, reason="measured again")
    assert report.scoring_pass is not None
    make.score_all()
    with pytest.raises(AcademyError, match="nobody has confirmed"):
        passes.publish(report.scoring_pass, reason="early")
    out = StringIO()
    call_command(
        "confirm_keys", str(version), "--by", "carol", "--reason", "better", "--json", stdout=out
    )
    assert json.loads(out.getvalue())["confirmed"] == 1
    passes.publish(report.scoring_pass, reason="confirmed")
    assert waiting(version) == []


def test_the_page_of_keys_is_for_curators_and_notes_who_opens_a_consensus(
    version: SuiteVersion,
) -> None:
    address = f"/suites/held/{version.name}/keys/"
    for roles in ((), ("entrant",), ("reviewer",), ("adjudicator",), ("auditor",)):
        visitor = Client()
        if roles:
            visitor.force_login(make.person(roles[0], *roles))
        assert visitor.get(address).status_code == 404
        assert visitor.post(address, {"all": "1", "reason": "x"}).status_code == 404
    carol = Client()
    carol.force_login(make.person("carol", "curator"))
    page = carol.get(address).content.decode()
    assert "Agreement of raters" in page
    assert "waits for a person" in page
    # As a word: the digits alone may stand in a commitment or in the token of the form.
    assert not any(re.search(rf"\b{value}\b", page) for value in MEASURED)
    ordinal = version.tasks.get(external_id="t-1").ordinal
    opened = carol.get(address, {"open": str(ordinal)}).content.decode()
    assert all(str(value) in opened for value in MEASURED)
    assert Exposure.objects.filter(what="consensus of raters", user__username="carol").count() == 1
    assert carol.post(address, {"reason": "none chosen"}).status_code == 422
    assert carol.post(address, {"all": "1", "reason": "I measured it too"}).status_code == 302
    told = carol.get(address).content.decode()
    assert "confirmed" in told
    assert "I measured it too" in told
    assert waiting(version) == []


def test_the_admin_confirms_too(version: SuiteVersion) -> None:
    carol = make.person("carol", "curator")
    carol.is_staff = True
    carol.save()
    admin = Client()
    admin.force_login(carol)
    chosen: Any = [key.pk for key in specs.latest_keys(version).values()]
    act = {"action": "confirm", "_selected_action": chosen}
    told = admin.post("/admin/academy/answerkey/", act, follow=True).content.decode()
    assert "is no consensus of raters" in told
    only = [k.pk for k in specs.latest_keys(version).values() if k.task.external_id == "t-1"]
    act = {"action": "confirm", "_selected_action": only}
    assert (
        "1 key is confirmed"
        in admin.post("/admin/academy/answerkey/", act, follow=True).content.decode()
    )


def test_tasks_that_need_no_key_are_listed_without_one(client: Client) -> None:
    files = {"tearoom.rubrics.json": [make.rubric_task("q-0", 1, _world_notes=None)]}
    version = make.version_of(make.import_files(files))
    client.force_login(make.person("curator", "curator"))
    address = f"/suites/{version.suite.slug}/{version.name}/keys/"
    page = client.get(address).content.decode()
    assert "q-0" in page and "none needed" in page
