"""manage.py passes SUITE@VERSION [--stage | --diff N | --publish N | …] [--json]."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import comparing, intake, passes, piloting
from academy.errors import AcademyError
from academy.management.printing import acting_person, refusing
from academy.models import Criterion, ScoringPass, SuiteVersion


class Command(BaseCommand):
    """List, stage, compare and publish the scoring passes of a version. Exit 0 done, 1 refused."""

    help = "List, stage, compare and publish the scoring passes of a version."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version and what to do."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--stage", action="store_true", help="stage a pass and score all runs")
        act.add_argument("--diff", type=int, metavar="N", help="what pass N changes")
        act.add_argument("--publish", type=int, metavar="N", help="publish staged pass N")
        act.add_argument("--pause", type=int, metavar="N", help="stop the scoring of pass N")
        act.add_argument("--resume", type=int, metavar="N", help="go on with the scoring of pass N")
        parser.add_argument("--like", type=int, metavar="N", help="stage with the keys of pass N")
        parser.add_argument(
            "--strike",
            action="append",
            default=[],
            metavar="TASK:CRITERION",
            help="stage without a criterion that two people called defective; may be repeated",
        )
        parser.add_argument("--reason", default="", help="why; kept with the pass")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Do it, and print what there is now."""
        with refusing(self, as_json=options["json"]):
            version = intake.find_version(version_name)
            by = acting_person(options["by"])
            told = self.act(version, by, options)
            if options["json"]:
                self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False))
            else:
                self.stdout.write("\n".join(lines(told)))

    def act(self, version: SuiteVersion, by: Any, options: dict[str, Any]) -> dict[str, Any]:
        """The one act that was asked for, and its outcome as plain values."""
        reason = options["reason"] or "asked for on the command line"
        if options["stage"]:
            like = passes.find_pass(version, options["like"]) if options["like"] else None
            struck = [criterion_of(version, text) for text in options["strike"]]
            made = passes.stage(version, reason=reason, by=by, strike=struck, like=like)
            return {"staged": made.number, **listing(version)}
        if options["diff"] is not None:
            chosen = passes.find_pass(version, options["diff"])
            before = comparing.pass_before(chosen)
            if before is None:
                raise AcademyError(f"Pass {chosen.number} has no pass before it.")
            return {
                "version": str(version),
                "pilot": piloting.sentence_on(version),
                "progress": passes.progress(chosen),
                **comparing.differences(before, chosen).as_json(),
            }
        if options["publish"] is not None:
            chosen = passes.find_pass(version, options["publish"])
            passes.publish(chosen, reason=reason, by=by)
        elif options["pause"] is not None:
            passes.pause(passes.find_pass(version, options["pause"]), by=by, reason=reason)
        elif options["resume"] is not None:
            passes.resume(passes.find_pass(version, options["resume"]), by=by, reason=reason)
        return listing(version)


def criterion_of(version: SuiteVersion, text: str) -> int:
    """The criterion named TASK:CRITERION. Raises AcademyError when there is none."""
    task, _colon, key = text.rpartition(":")
    found = Criterion.objects.filter(task__version=version, task__external_id=task, key=key)
    pk = found.values_list("pk", flat=True).first()
    if pk is None:
        raise AcademyError(f"{version} has no criterion {text!r}; write TASK:CRITERION.")
    return int(pk)


def listing(version: SuiteVersion) -> dict[str, Any]:
    """All passes of a version, newest first."""
    rows = version.passes.order_by("-number")
    return {"version": str(version), "passes": [pass_row(row) for row in rows]}


def pass_row(row: ScoringPass) -> dict[str, Any]:
    """One pass as plain values."""
    return {
        "number": row.number,
        "state": row.state,
        "digest": row.digest,
        "scorers": row.scorers,
        "keys": len(row.key_revisions),
        "struck": row.struck,
        "reason": row.reason,
        "published_at": row.published_at.isoformat() if row.published_at else None,
        "progress": passes.progress(row),
    }


def lines(told: dict[str, Any]) -> list[str]:
    """What there is, in sentences."""
    if "passes" in told:
        return [
            f"pass {row['number']} {row['state']}: {row['progress']['done']} of "
            f"{row['progress']['units']} units done, {row['progress']['paused']} paused, "
            f"{row['progress']['failed']} failed; {row['digest'][:12]}; {row['reason']}"
            for row in told["passes"]
        ]
    found = [f"pass {told['after']} against pass {told['before']}: {told['reason']}"]
    found += [told["pilot"]] if told["pilot"] else []
    found += [f"  because {cause}" for cause in told["causes"]]
    found += [
        f"  {row['name']} (run {row['run']}), {row['metric']} {row['mode']}: "
        f"{shown(row['before'])} to {shown(row['after'])}"
        for row in told["runs"]
    ]
    for item in told["items"]:
        found.append(
            f"  task {item['task']}: {len(item['changes'])} scores of {len(item['runs'])} runs "
            f"change; {'; '.join(item['reasons'])}"
        )
    for board in told["boards"]:
        for row in board["moved"]:
            before, after = row["rank_before"] or "none", row["rank"] or "none"
            stays = before == after
            moved = f"stays at rank {after}" if stays else f"from rank {before} to {after}"
            found.append(
                f"  board {board['board']}: {row['name']} {moved}, score "
                f"{shown(row['score_before'])} to {shown(row['score'])}"
            )
    return found


def shown(value: float | None) -> str:
    """A result with the digits that a reader uses."""
    return "none" if value is None else f"{value:.6g}"
