"""No ranked version is public before blind answers fail and its own key is perfect."""

from __future__ import annotations

import dataclasses
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from academy import exporting, gating, intake, keying, passes, publishing, registry
from academy.bundle import TaskSpec
from academy.errors import AcademyError
from academy.formats.base import GateAnswers
from academy.importing import ImportOptions
from academy.models import AuditEvent, Exposure, Finding, InstanceRecord, Run, SuiteVersion
from tests import factories as make

pytestmark = pytest.mark.django_db


def give(monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    """Let the format's gate answers be those of another kind."""
    fmt = registry.format_of("opentakeoff")

    def answers(task: TaskSpec) -> GateAnswers:
        held = fmt.gate_answers(task)
        return dataclasses.replace(
            held, **{kind: getattr(held, source) for kind, source in changes.items()}
        )

    found = {
        **registry.all_formats(),
        "opentakeoff": dataclasses.replace(fmt, gate_answers=answers),
    }
    monkeypatch.setattr(registry, "all_formats", lambda: found)


def test_publishing_a_ranked_version_stores_the_three_runs_on_its_board() -> None:
    version = make.takeoff_version(3)
    kinds = {run.kind: run for run in Run.objects.filter(version=version)}
    assert set(kinds) == {"null", "shotgun", "oracle"}
    make.score_all()
    strict = {kind: run.results.get(mode="strict", slice="").value for kind, run in kinds.items()}
    assert strict == {"null": 100, "shotgun": 100, "oracle": 0}
    snapshot = version.boards.order_by("pk").first().newest_snapshot()
    assert {row["kind"] for row in snapshot.standings["baselines"]} == set(kinds)
    assert snapshot.standings["standings"] == []
    assert not Finding.objects.exists()
    event = AuditEvent.objects.get(act="version.publish")
    assert event.details["gate"]["ok"] is True


def test_the_gate_stays_shut_with_the_list_of_items(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make.takeoff_version(2, publish=False)
    give(monkeypatch, oracle="null", shotgun="oracle")
    with pytest.raises(AcademyError, match=r"gate of example@1\.0 stays shut") as refused:
        publishing.publish_version(version, reason="try")
    for part in ("t-0 (shotgun, ", "t-1 (oracle, ", "above the bar", "the answer key itself"):
        assert part in str(refused.value)
    version.refresh_from_db()
    assert version.state == "draft"
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("gate", str(version), "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert told["ok"] is False
    assert {(item["task"], item["run"]) for item in told["items"]} == {
        (task, run) for task in ("t-0", "t-1") for run in ("shotgun", "oracle")
    }


def test_holding_the_gate_again_changes_nothing() -> None:
    version = make.takeoff_version(2)
    make.score_all()
    before = make.whole_database()
    gating.hold_gate(version)
    changed = set(make.changed_tables(before))
    assert changed <= {"academy_runresult", "academy_runvector", "academy_summary", "academy_work"}


def test_practice_has_no_gate() -> None:
    version = make.takeoff_version(2, mode="practice")
    assert not Run.objects.exists()
    assert gating.hold_gate(version).applies is False


def test_where_people_decide_only_the_empty_run_is_tested() -> None:
    version = make.rubric_version(2, publish=False)
    SuiteVersion.objects.filter(pk=version.pk).update(mode="ranked")
    version.refresh_from_db()
    report = gating.hold_gate(version)
    assert report.is_open
    assert report.machine == ()
    assert set(report.runs) == {"null"}
    assert "decided by a judge or a person" in report.notes[0]
    publishing.publish_version(version, reason="signed")
    assert AuditEvent.objects.get(act="version.publish").reason == "signed"


def test_a_new_key_has_a_new_oracle_and_the_old_one_is_put_aside() -> None:
    version = make.takeoff_version(2)
    first = Run.objects.get(version=version, kind="oracle")
    content = {"quantities": [{"item": "t-0", "value": 55, "unit": "sf"}]}
    keying.revise(version, {"t-0": content}, reason="misread")
    make.score_all()
    passes.publish(passes.find_pass(version, 2), reason="right")
    first.refresh_from_db()
    assert first.state == "withdrawn"
    standing = Run.objects.get(version=version, kind="oracle", state="closed")
    assert standing.results.get(scoring_pass__number=2, mode="strict", slice="").value == 0
    make.score_all()
    back = passes.stage(version, reason="back", like=passes.find_pass(version, 1))
    make.score_all()
    passes.publish(back, reason="the first was right")
    first.refresh_from_db()
    assert first.state == "closed"


def test_the_oracles_records_are_keys_and_open_to_curators_only() -> None:
    version = make.takeoff_version(2)
    oracle = Run.objects.get(version=version, kind="oracle")
    record = InstanceRecord.objects.of_run(oracle.pk).first()
    assert record is not None
    for address in (f"/records/{record.pk}/", f"/records/{record.pk}/raw/"):
        assert Client().get(address).status_code == 404


@pytest.mark.data
def test_the_real_takeoff_suites_pass_their_gates(conformance_data: Path) -> None:
    intake.import_suite_path(
        conformance_data / "opentakeoff" / "tasks", options=ImportOptions(publish=True)
    )
    for version in SuiteVersion.objects.filter(mode="ranked"):
        report = gating.hold_gate(version)
        if report.machine and not keying.tasks_without_key(version):
            assert report.is_open, report.refusal()
            assert version.state == "published"


def test_gate_runs_are_exported_to_curators_only(tmp_path: Path) -> None:
    version = make.takeoff_version(2, slug="guarded")
    make.score_all()
    public, carol = Client(), Client()
    curator = make.person("carol", "curator")
    carol.force_login(curator)
    reviewer = Client()
    reviewer.force_login(make.person("rita", "reviewer"))
    for run in version.runs.filter(kind__in=("null", "shotgun", "oracle")):
        page = public.get(f"/runs/{run.pk}/").content.decode()
        assert "Downloads" not in page
        for name in ("own.zip", "scores.csv", "scores.json", "as-every_eval_ever.zip"):
            for visitor in (public, reviewer):
                assert visitor.get(f"/runs/{run.pk}/{name}").status_code == 404
            assert carol.get(f"/runs/{run.pk}/{name}").status_code == 200
    oracle = version.runs.get(kind="oracle")
    assert Exposure.objects.filter(user=curator, what__contains="answer keys of guarded").exists()
    with pytest.raises(AcademyError, match="are the answer keys of guarded@1.0"):
        exporting.export_run(oracle)
    with pytest.raises(AcademyError, match="are the answer keys"):
        exporting.export_upload(oracle)
    with pytest.raises(AcademyError, match="are the answer keys"):
        exporting.export_scores(oracle, form="every_eval_ever", at=timezone.now())
    assert exporting.export_run(oracle, with_keys=True, by=curator).files
