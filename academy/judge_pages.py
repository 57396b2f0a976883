"""What the page of a version's judges shows, and what curators do there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from academy import judging
from academy.errors import AcademyError
from academy.models import Decision, JudgeJob, SuiteVersion
from academy.querysets import has_role
from academy.worker_pages import workers_context

SHOWN_ERRORS = 5


def jobs_context(version: SuiteVersion, user: Any) -> dict[str, Any]:
    """The part of the page that moves: every judge with its progress, use and newest errors."""
    jobs = JudgeJob.objects.filter(version=version).order_by("-pk")
    rows: list[dict[str, Any]] = [
        {"job": job, "progress": judging.progress(job), "errors": newest_errors(job)}
        for job in jobs
    ]
    return {
        **workers_context(),
        "version": version,
        "suite": version.suite,
        "jobs": rows,
        "curates": has_role(user, "curator"),
        "is_moving": any(row["progress"]["owed"] for row in rows),
    }


def newest_errors(job: JudgeJob) -> list[str]:
    """Why the newest calls gave no verdict; the words are ours, not the endpoint's."""
    rows = Decision.objects.filter(
        source="judge",
        state="call_error",
        current=True,
        criterion__task__version=job.version_id,
        **judging.identity(job),
    )
    return list(rows.order_by("-pk").values_list("reason", flat=True)[:SHOWN_ERRORS])


def judges_context(version: SuiteVersion, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """Which judge is configured, where it may look, what asking would cost, and all jobs."""
    context = {
        **jobs_context(version, user),
        "allowed": version.judge_endpoints.select_related("allowed_by").order_by("pk"),
        "criteria": version.tasks.filter(criteria__decided_by="judge").count(),
        "endpoint": None,
        "refusal": "",
        "estimate": None,
    }
    try:
        context["endpoint"] = judging.endpoint()
        judging.refuse_sealed(version, context["endpoint"])
        if query.get("estimate"):
            context["estimate"] = judging.estimate(version)
    except AcademyError as error:
        context["refusal"] = str(error)
    return context


def act(
    version: SuiteVersion, name: str, *, job: int | None, given: Mapping[str, str], by: Any
) -> str:
    """Do what a curator asked for; gives what was done as a sentence. Raises AcademyError."""
    reason = given.get("reason", "")
    if name == "start":
        started = judging.progress(judging.start(version, by=by, reason=reason))
        return f"{started['owed']} calls of {started['judge']} are owed."
    if name == "allow":
        address = given.get("address", "")
        judging.allow_endpoint(version, address, by=by, reason=reason)
        return f"Records of {version} may go to {address}."
    chosen = JudgeJob.objects.filter(version=version, pk=job or 0).first()
    if chosen is None or name not in ("pause", "resume"):
        raise AcademyError("Choose what is to be done.")
    if name == "pause":
        return f"{judging.pause(chosen, by=by)} calls of {chosen.name} wait."
    return f"{judging.resume(chosen, by=by)} calls of {chosen.name} go on."
