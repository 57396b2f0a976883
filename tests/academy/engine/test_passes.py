"""A pass is staged, scored beside the published one, compared, and published in one step."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from academy import comparing, keying, passes, registry, rescoring, scheduling, work
from academy.errors import AcademyError
from academy.models import AuditEvent, Run, RunResult, Score, SuiteVersion, Work
from academy.scorers.base import Mode
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> SuiteVersion:
    return make.takeoff_version([make.takeoff_task("t-0", 100), make.takeoff_task("t-wrong", 50)])


@pytest.fixture
def runs(version: SuiteVersion) -> list[Run]:
    """One run that answers as the wrong key says, and one that is right."""
    flatterer = {"t-0": 100.0, "t-wrong": 50.0}
    right = {"t-0": 100.0, "t-wrong": 100.0}
    made = [
        make.takeoff_run(version, flatterer, name="Flatterer"),
        make.takeoff_run(version, right, name="Upright"),
    ]
    make.score_all()
    return made


def corrected(version: SuiteVersion, value: float = 100) -> None:
    task = version.tasks.get(external_id="t-wrong")
    content = {"quantities": [{"item": "t-wrong", "value": value, "unit": "sf"}]}
    keying.revise(version, {task.external_id: content}, reason="the sheet was misread")


def values(pass_number: int, version: SuiteVersion) -> dict[str, float | None]:
    rows = RunResult.objects.filter(
        run__version=version,
        run__kind="entrant",
        scoring_pass__number=pass_number,
        mode="strict",
        slice="",
    ).select_related("run__entrant")
    return {row.run.entrant.slug: row.value for row in rows}


def scores_of(version: SuiteVersion, number: int) -> set[tuple[Any, ...]]:
    return set(
        Score.objects.filter(
            scoring_pass__version=version, scoring_pass__number=number
        ).values_list("record_id", "metric__key", "mode", "revision", "status", "value", "current")
    )


def test_a_corrected_key_stages_a_pass_and_changes_nothing_that_is_shown(
    version: SuiteVersion, runs: list[Run]
) -> None:
    before = scores_of(version, 1)
    corrected(version)
    staged = passes.staged_pass(version)
    assert staged is not None
    assert (staged.number, staged.state) == (2, "staged")
    make.score_all()
    assert scores_of(version, 1) == before
    assert passes.published_pass(version).number == 1
    assert {row[0] for row in scores_of(version, 2)} == {row[0] for row in before}


def test_the_difference_names_runs_items_and_reasons(
    version: SuiteVersion, runs: list[Run]
) -> None:
    corrected(version)
    make.score_all()
    staged = passes.find_pass(version, 2)
    told = comparing.differences(passes.find_pass(version, 1), staged).as_json()
    assert [item["task"] for item in told["items"]] == ["t-wrong"]
    assert told["items"][0]["reasons"] == ["answer key revision 1 to 2"]
    mine = {run.pk for run in runs}
    assert mine < set(told["items"][0]["runs"]), "and the blind guesses of the gate"
    changes = [c for c in told["items"][0]["changes"] if c["run"] in mine]
    strict = [c for c in changes if c["mode"] == "strict"]
    assert [(c["before"]["value"], c["after"]["value"]) for c in strict] == [(0, 50), (100, 0)]
    assert told["causes"] == ["1 answer key in another revision"]
    assert told["boards"][0]["moved"], "the upright entrant moves on the board"


def test_publishing_swaps_and_the_old_pass_still_answers(
    version: SuiteVersion, runs: list[Run]
) -> None:
    old = scores_of(version, 1)
    corrected(version)
    make.score_all()
    passes.publish(passes.find_pass(version, 2), reason="the key was wrong")
    make.score_all()
    assert [p.state for p in version.passes.order_by("number")] == ["retired", "published"]
    assert scores_of(version, 1) == old
    for number in (1, 2):
        page = Client().get(f"/runs/{runs[0].pk}/", {"pass": number})
        assert page.status_code == 200
        assert (b"which is retired" in page.content) == (number == 1)
    assert AuditEvent.objects.filter(act="pass.publish").count() == 1


def test_a_pass_is_not_published_before_all_its_runs_are_scored(
    version: SuiteVersion, runs: list[Run]
) -> None:
    corrected(version)
    staged = passes.find_pass(version, 2)
    with pytest.raises(AcademyError, match="units of its scoring are owed"):
        passes.publish(staged, reason="too early")
    make.score_all()
    Work.objects.filter(key__startswith=f"score:{staged.pk}:").update(state="failed", error="broke")
    with pytest.raises(AcademyError, match="failed, the first with: broke"):
        passes.publish(staged, reason="still wrong")


def test_a_run_that_arrives_while_a_pass_is_staged_is_scored_in_both(
    version: SuiteVersion, runs: list[Run]
) -> None:
    corrected(version)
    make.score_all()
    late = make.takeoff_run(version, name="Latecomer")
    make.score_all()
    assert (
        late.results.filter(origin="computed", slice="").values("scoring_pass").distinct().count()
        == 2
    )


def test_going_back_is_a_new_pass(version: SuiteVersion, runs: list[Run]) -> None:
    corrected(version)
    make.score_all()
    passes.publish(passes.find_pass(version, 2), reason="corrected")
    with pytest.raises(AcademyError, match="going back is a new pass"):
        passes.publish(passes.find_pass(version, 1), reason="back")
    third = passes.stage(version, reason="back", like=passes.find_pass(version, 1))
    make.score_all()
    passes.publish(third, reason="the first was right")
    assert third.number == 3
    assert third.digest == passes.find_pass(version, 1).digest
    assert values(3, version) == values(1, version)


def test_staging_what_differs_in_nothing_is_refused(version: SuiteVersion, runs: list[Run]) -> None:
    with pytest.raises(AcademyError, match="Nothing differs from pass 1"):
        passes.stage(version, reason="again")
    with pytest.raises(AcademyError, match="needs a reason"):
        passes.stage(version, reason=" ")


def test_a_second_correction_replaces_the_pass_that_waits(
    version: SuiteVersion, runs: list[Run]
) -> None:
    corrected(version, 90)
    corrected(version, 100)
    make.score_all()
    assert [p.state for p in version.passes.order_by("number")] == [
        "published",
        "retired",
        "staged",
    ]
    assert not scores_of(version, 2)
    assert not Work.objects.exclude(state="done").exists()


def test_a_paused_pass_waits_and_goes_on(version: SuiteVersion, runs: list[Run]) -> None:
    corrected(version)
    staged = passes.find_pass(version, 2)
    assert passes.pause(staged) == 1
    make.score_all()
    assert not scores_of(version, 2)
    assert passes.progress(staged)["paused"] == 1
    passes.resume(staged)
    make.score_all()
    assert passes.progress(staged)["owed"] == 0
    assert scores_of(version, 2)


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A scorer of these suites in a newer version that calls every answer perfect."""
    found = dict(registry.all_scorers())
    key = "percent_error"
    for mode in Mode:
        old = found[key, mode]
        found[key, mode] = dataclasses.replace(old, version=old.version + 1)
    monkeypatch.setattr(registry, "all_scorers", lambda: found)
    return key


def test_a_scorer_release_stages_a_pass_by_itself(
    version: SuiteVersion, runs: list[Run], released: str
) -> None:
    scheduling.owe_release()
    make.score_all()
    staged = passes.staged_pass(version)
    assert staged is not None
    assert staged.reason.startswith("scorers were released: ")
    assert values(2, version) == values(1, version)
    scheduling.owe_release()
    make.score_all()
    assert version.passes.count() == 2


def test_scores_of_two_scorer_versions_never_mix_in_one_pass(
    version: SuiteVersion, runs: list[Run], released: str
) -> None:
    rescoring.score_again(runs[:1], reason="try")
    make.score_all()
    failed = Work.objects.get(state="failed")
    assert "What is new is scored in the next pass" in failed.error
    assert set(Score.objects.values_list("scorer_version", flat=True)) == {1}


def test_scoring_again_changes_nothing_when_nothing_changed(
    version: SuiteVersion, runs: list[Run]
) -> None:
    before = make.whole_database()
    units = rescoring.score_again(runs, reason="to be sure")
    assert units == 2
    make.score_all()
    changed = set(make.changed_tables(before)) - {"academy_work"}
    assert changed <= {
        "academy_runevent",
        "academy_auditevent",
        "academy_runresult",
        "academy_runvector",
        "academy_summary",
    }
    assert "academy_score" not in changed
    assert runs[0].events.filter(state="scored again").count() == 1


def test_a_retired_pass_is_never_scored_again(version: SuiteVersion, runs: list[Run]) -> None:
    corrected(version)
    make.score_all()
    first = passes.find_pass(version, 1)
    work.enqueue(
        "score",
        key="late",
        payload={
            "pass": first.pk,
            "run": runs[0].pk,
            "first": runs[0].pk << 39,
            "last": (runs[0].pk + 1) << 39,
        },
    )
    passes.publish(passes.find_pass(version, 2), reason="corrected")
    before = scores_of(version, 1)
    make.score_all()
    assert scores_of(version, 1) == before
    first.refresh_from_db()
    with pytest.raises(AcademyError, match="retired"):
        rescoring.score_again(runs, reason="x", scoring_pass=first)


def command(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert isinstance(found, dict)
    return found


def test_the_command_stages_compares_and_publishes(version: SuiteVersion, runs: list[Run]) -> None:
    corrected(version)
    make.score_all()
    told = command("passes", str(version), "--diff", "2")
    assert [item["task"] for item in told["items"]] == ["t-wrong"]
    told = command("passes", str(version), "--publish", "2", "--reason", "right")
    assert [row["state"] for row in told["passes"]] == ["published", "retired"]
    told = command("passes", str(version), "--stage", "--like", "1", "--reason", "back")
    assert told["staged"] == 3
    only = str(runs[0].pk)
    assert command("rescore", str(version), "--run", only)["runs"] == [runs[0].pk]
    assert {run.pk for run in runs} < set(command("rescore", str(version))["runs"])
    out = StringIO()
    call_command("passes", str(version), "--diff", "2", stdout=out)
    assert "task t-wrong" in out.getvalue()


def test_the_page_shows_staged_passes_to_curators_only(
    version: SuiteVersion, runs: list[Run]
) -> None:
    corrected(version)
    make.score_all()
    address = f"/suites/{version.suite.slug}/{version.name}/passes/"
    public = Client()
    page = public.get(address)
    assert page.status_code == 200
    assert b"Pass 1" in page.content
    assert b"Pass 2" not in page.content
    assert b"Pass 2" not in public.get(address, {"pass": 2}).content
    assert public.post(address, {"act": "publish", "pass": "2", "reason": "x"}).status_code == 403
    curator = Client()
    curator.force_login(make.person("carol", "curator"))
    page = curator.get(address)
    assert b"Publish pass 2" in page.content
    assert b"t-wrong" in page.content
    assert curator.post(address, {"act": "publish", "pass": "2"}).status_code == 422
    done = curator.post(address, {"act": "publish", "pass": "2", "reason": "right"})
    assert done.status_code == 302
    assert b"t-wrong" in public.get(address).content


def test_a_sealed_version_does_not_show_what_a_pass_changed() -> None:
    version = make.sealed_version(3)
    make.takeoff_run(version)
    make.score_all()
    content = {"quantities": [{"item": "t-0", "value": 77, "unit": "sf"}]}
    keying.revise(version, {"t-0": content}, reason="misread")
    make.score_all()
    passes.publish(passes.find_pass(version, 2), reason="right")
    address = f"/suites/{version.suite.slug}/{version.name}/passes/"
    page = Client().get(address)
    assert b"What changed is sealed" in page.content
    assert b"t-0" not in page.content
