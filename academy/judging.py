"""A judge is asked about criteria as work that survives: optional, off unless it is configured.

Every verdict goes through `deciding`. A call that fails is a decision of its own state, never
"not met". Name, version and digest together are the judge, so that two never overwrite each other.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Count, F, Q, QuerySet

from academy import auditing, deciding, registry, scoring, specs, tasks, work
from academy.canonical import digest
from academy.errors import AcademyError
from academy.judge_endpoint import Endpoint, RefusedError, Reply, ask, check_address
from academy.judge_prompts import (
    JudgeVerdict,
    ReplyError,
    configuration,
    messages,
    read_verdict,
)
from academy.models import (
    Criterion,
    Decision,
    InstanceRecord,
    JudgeEndpoint,
    JudgeJob,
    Run,
    SuiteVersion,
    Work,
)
from academy.querysets import has_role

KIND = "judge"
LOCK = 7501
TRIES = 2
CHARACTERS_A_TOKEN, TOKENS_OF_AN_ANSWER = 4, 120
MILLION = 1_000_000


def endpoint() -> Endpoint:
    """The endpoint that the environment names. Raises AcademyError where none is."""
    if not settings.ACADEMY_JUDGE_URL or not settings.ACADEMY_JUDGE_MODEL:
        raise AcademyError("No judge is configured: set ACADEMY_JUDGE_URL and ACADEMY_JUDGE_MODEL.")
    check_address(settings.ACADEMY_JUDGE_URL)
    return Endpoint(
        url=settings.ACADEMY_JUDGE_URL,
        model=settings.ACADEMY_JUDGE_MODEL,
        key=settings.ACADEMY_JUDGE_KEY,
        seconds=settings.ACADEMY_JUDGE_SECONDS,
    )


def refuse_sealed(version: SuiteVersion, asked: Endpoint) -> None:
    """Raise AcademyError when records of a version may not go to an endpoint."""
    closed = version.sealed or version.tasks.filter(holdout=True).exists()
    if closed and not JudgeEndpoint.objects.filter(version=version, address=asked.url).exists():
        raise AcademyError(
            f"{version} is sealed, and no curator has named {asked.url} as allowed for it."
        )


def allow_endpoint(version: SuiteVersion, address: str, *, by: Any, reason: str) -> None:
    """Let the records of a sealed version go to an endpoint. Raises AcademyError unless a curator
    says so, with a reason."""
    if not has_role(by, "curator"):
        raise AcademyError("Only a curator names an endpoint as allowed.")
    if not reason.strip():
        raise AcademyError("Naming an endpoint as allowed needs a reason.")
    check_address(address)
    JudgeEndpoint.objects.get_or_create(
        version=version, address=address, defaults={"allowed_by": by, "reason": reason}
    )
    auditing.note("judge.allow", f"version:{version.pk}", by=by, reason=reason, address=address)


def job_for(version: SuiteVersion, asked: Endpoint, *, by: Any, reason: str) -> JudgeJob:
    """The job of the configured judge on a version; another configuration is another job."""
    shape = configuration(asked.model, settings.ACADEMY_JUDGE_CHARACTERS)
    actor = by if getattr(by, "is_authenticated", False) else None
    job, _made = JudgeJob.objects.get_or_create(
        version=version,
        name=settings.ACADEMY_JUDGE_NAME or asked.model,
        judge_version=f"{asked.model}/{shape['prompt_version']}",
        digest=digest(shape),
        defaults={
            "endpoint": asked.url,
            "configuration": shape,
            "reason": reason[:500],
            "created_by": actor,
        },
    )
    return job


def owed_pairs(
    version: SuiteVersion, runs: Iterable[Run] | None, judge: Mapping[str, str]
) -> list[tuple[int, int, int]]:
    """Record, criterion and run of everything that this judge has not decided yet."""
    chosen = Run.objects.filter(
        version=version, state__in=("open", "closed"), kind=Run.Kind.ENTRANT
    )
    if runs is not None:
        chosen = chosen.filter(pk__in=[run.pk for run in runs])
    criteria: dict[int, list[int]] = {}
    for row in Criterion.objects.filter(task__version=version, decided_by="judge").order_by("pk"):
        criteria.setdefault(row.task_id, []).append(row.pk)
    done = set(
        Decision.objects.filter(record__run__in=chosen, source="judge", current=True, **judge)
        .exclude(state="call_error")
        .values_list("record", "criterion")
    )
    records = InstanceRecord.objects.filter(run__in=chosen, status="answered").order_by("id")
    return [
        (record, criterion, run)
        for record, task, run in records.values_list("pk", "task_id", "run_id")
        for criterion in criteria.get(task, ())
        if (record, criterion) not in done
    ]


def identity(job: JudgeJob) -> dict[str, str]:
    """How decisions of a job name their author."""
    return {
        "author": job.name,
        "author_version": job.judge_version,
        "author_digest": job.digest,
    }


def estimate(version: SuiteVersion, runs: Iterable[Run] | None = None) -> dict[str, Any]:
    """What asking would take: calls, tokens by the length of records, cost. Nothing is asked."""
    asked = endpoint()
    refuse_sealed(version, asked)
    shape = configuration(asked.model, settings.ACADEMY_JUDGE_CHARACTERS)
    judge = {
        "author": settings.ACADEMY_JUDGE_NAME or asked.model,
        "author_version": f"{asked.model}/{shape['prompt_version']}",
        "author_digest": digest(shape),
    }
    pairs = owed_pairs(version, runs, judge)
    lengths = dict(
        InstanceRecord.objects.filter(pk__in={pair[0] for pair in pairs}).values_list(
            "pk", "length"
        )
    )
    characters = sum(
        min(lengths[r], settings.ACADEMY_JUDGE_CHARACTERS) + 2000 for r, _c, _x in pairs
    )
    tokens_in, tokens_out = characters // CHARACTERS_A_TOKEN, len(pairs) * TOKENS_OF_AN_ANSWER
    return {
        "calls": len(pairs),
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost": cost_micros(tokens_in, tokens_out) / MILLION,
        **judge,
    }


def cost_micros(tokens_in: int, tokens_out: int) -> int:
    """The cost of tokens in millionths of a US dollar, by the prices that are configured."""
    price_in: float = settings.ACADEMY_JUDGE_PRICE_IN
    price_out: float = settings.ACADEMY_JUDGE_PRICE_OUT
    return round(tokens_in * price_in + tokens_out * price_out)


@work.owing()
def start(
    version: SuiteVersion, runs: Iterable[Run] | None = None, *, by: Any = None, reason: str = ""
) -> JudgeJob:
    """Owe the asking about all that the configured judge has not decided; call errors come again.

    Raises AcademyError where no judge is configured, or for a sealed version whose curator has not
    named the endpoint.
    """
    asked = endpoint()
    refuse_sealed(version, asked)
    job = job_for(version, asked, by=by, reason=reason)
    JudgeJob.objects.filter(pk=job.pk).update(endpoint=asked.url)
    for record, criterion, run in owed_pairs(version, runs, identity(job)):
        work.enqueue(
            KIND,
            key=f"{KIND}:{job.pk}:{record}:{criterion}",
            payload={"job": job.pk, "record": record, "criterion": criterion},
            run_id=run,
            priority=8,
        )
    auditing.note("judge.start", f"judge:{job.pk}", by=by, reason=reason, digest=job.digest)
    tasks.nudge()
    return job


def _subject(payload: Mapping[str, Any]) -> tuple[JudgeJob, InstanceRecord, Criterion] | None:
    job = JudgeJob.objects.select_related("version__suite").filter(pk=payload["job"]).first()
    record = (
        InstanceRecord.objects.select_related("run", "task").filter(pk=payload["record"]).first()
    )
    criterion = Criterion.objects.filter(pk=payload["criterion"]).first()
    if job is None or record is None or criterion is None:
        return None
    return job, record, criterion


def judge_one(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "judge": one criterion of one record. Raises what makes it wait or fail."""
    subject = _subject(payload)
    if subject is None:
        return lambda: None
    job, record, criterion = subject
    held = Decision.objects.filter(
        record=record, criterion=criterion, source="judge", current=True, **identity(job)
    )
    if held.exclude(state="call_error").exists():
        return lambda: None
    asked = endpoint()
    refuse_sealed(job.version, asked)
    if asked.url != job.endpoint or asked.model != job.configuration["model"]:
        raise AcademyError("The judge is configured otherwise by now; start it anew.")
    with one_slot():
        verdict, replies = call(asked, job, record, criterion)
    return lambda: store(job, record, criterion, verdict, replies)


def call(
    asked: Endpoint, job: JudgeJob, record: InstanceRecord, criterion: Criterion
) -> tuple[JudgeVerdict, list[Reply]]:
    """The verdict on one criterion, asked again when an answer is none; then a call error."""
    fmt = registry.format_of(job.version.suite.format)
    task = specs.task_spec(record.task, list(record.task.criteria.order_by("ordinal")))
    view = scoring.open_view(registry.format_of(record.run.form), record, task)
    spec = specs.criterion_spec(criterion)
    shown = {n: v for n, v in fmt.rater_view(task).items() if n in spec.needs}
    replies: list[Reply] = []
    told = ""
    for _try in range(TRIES):
        mark = secrets.token_hex(12)
        asked_for = messages(
            task, spec, shown, view, mark=mark, characters=job.configuration["characters"]
        )
        try:
            replies.append(ask(asked, asked_for))
            return read_verdict(replies[-1].text, spec), replies
        except ReplyError as error:
            told = str(error)
        except RefusedError as error:
            return JudgeVerdict("call_error", None, str(error)), replies
    return JudgeVerdict("call_error", None, f"The judge gave no verdict: {told}."), replies


def store(
    job: JudgeJob,
    record: InstanceRecord,
    criterion: Criterion,
    verdict: JudgeVerdict,
    replies: list[Reply],
) -> None:
    """Keep a verdict through the one door, and what it used."""
    deciding.record_decisions(
        record,
        [
            deciding.Verdict(
                criterion=criterion,
                state=verdict.state,
                value=verdict.value,
                reason=verdict.reason,
            )
        ],
        source="judge",
        author=job.name,
        author_version=job.judge_version,
        author_digest=job.digest,
    )
    tokens_in = sum(reply.tokens_in for reply in replies)
    tokens_out = sum(reply.tokens_out for reply in replies)
    JudgeJob.objects.filter(pk=job.pk).update(
        calls=F("calls") + max(len(replies), 1),
        decided=F("decided") + int(verdict.state != "call_error"),
        errors=F("errors") + int(verdict.state == "call_error"),
        tokens_in=F("tokens_in") + tokens_in,
        tokens_out=F("tokens_out") + tokens_out,
        cost_micros=F("cost_micros") + cost_micros(tokens_in, tokens_out),
    )


def give_up(payload: Mapping[str, Any]) -> None:
    """The endpoint did not answer in all attempts: that is a call error, and no verdict."""
    subject = _subject(payload)
    if subject is None:
        return
    job, record, criterion = subject
    held = Decision.objects.filter(
        record=record, criterion=criterion, source="judge", current=True, **identity(job)
    )
    if not held.exclude(state="call_error").exists():
        told = JudgeVerdict("call_error", None, "The judge could not be asked.")
        store(job, record, criterion, told, [])


@contextmanager
def one_slot() -> Iterator[None]:
    """One of the calls that may be made at once, over all workers; waits for a free one."""
    slots = range(max(settings.ACADEMY_JUDGE_CONCURRENCY, 1))
    taken: int | None = None
    while taken is None:
        taken = next((slot for slot in slots if _lock("pg_try_advisory_lock", slot)), None)
        if taken is None:
            time.sleep(0.1)
    try:
        yield
    finally:
        _lock("pg_advisory_unlock", taken)


def _lock(function: str, slot: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [LOCK, slot])
        return bool(cursor.fetchone()[0])


def work_of(job: JudgeJob) -> QuerySet[Work]:
    """The work of a job, by its keys, which are indexed by their beginning."""
    return Work.objects.filter(key__startswith=f"{KIND}:{job.pk}:")


def progress(job: JudgeJob) -> dict[str, Any]:
    """How far a job is, what it used and what failed."""
    job.refresh_from_db()
    rows = work_of(job)
    counts = rows.aggregate(
        units=Count("pk"),
        done=Count("pk", filter=Q(state="done")),
        owed=Count("pk", filter=Q(state__in=("ready", "leased"))),
        paused=Count("pk", filter=Q(state="paused")),
        failed=Count("pk", filter=Q(state="failed")),
    )
    return {
        "judge": job.name,
        "judge_version": job.judge_version,
        "digest": job.digest,
        **counts,
        "ahead": work.units_ahead(rows),
        "calls": job.calls,
        "decided": job.decided,
        "call_errors": job.errors,
        "tokens_in": job.tokens_in,
        "tokens_out": job.tokens_out,
        "cost": job.cost_micros / MILLION,
    }


def pause(job: JudgeJob, *, by: Any = None) -> int:
    """Ask no more after the calls that are being made; gives how many wait."""
    rows = work_of(job).filter(state="ready")
    moved: int = rows.update(state="paused")
    auditing.note("judge.pause", f"judge:{job.pk}", by=by, units=moved)
    return moved


def resume(job: JudgeJob, *, by: Any = None) -> int:
    """Go on asking; gives how many are owed again."""
    rows = work_of(job).filter(state="paused")
    moved: int = rows.update(state="ready")
    auditing.note("judge.resume", f"judge:{job.pk}", by=by, units=moved)
    tasks.nudge()
    return moved
