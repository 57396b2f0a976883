"""What the pages of appeals show, to whom; of a sealed version no part that is sealed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.urls import reverse

from academy.models import Criterion, InstanceRecord, Run, ScoringPass, SuiteVersion
from academy.pages import hides_verdicts, shows_criteria
from academy.querysets import has_role
from academy.run_pages import is_closed
from adjudication import appealing, concluding, correcting, defect_kind, entrants
from adjudication.models import Appeal, ReviewItem, Seat

PAGE = 50
STATES = ("open", "upheld", "dismissed", "withdrawn")
MOST_FOUND = 50


def row_of(appeal: Appeal, user: Any) -> dict[str, Any]:
    """One appeal as somebody may read it.

    The text of an appeal and the criterion it names stay closed with a sealed version, except for
    curators and whoever wrote it; outcome and reason are public.
    """
    assert appeal.record is not None
    version = appeal.record.run.version
    is_own = appeal.opened_by_id == getattr(user, "pk", None)
    return {
        "appeal": appeal,
        "record": appeal.record,
        "run": appeal.record.run,
        "version": version,
        "is_own": is_own,
        "is_open_text": is_own or not is_closed(version, user),
        "shows_criterion": is_own or shows_criteria(version, user),
        "shows_record": InstanceRecord.objects.visible_to(user)
        .filter(pk=appeal.record_id)
        .exists(),
        "waits_for_key": correcting.waits_for_key(appeal),
        "waits_for_version": correcting.waits_for_version(appeal),
    }


def list_context(user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """All appeals that somebody may read, newest first, of one state or all."""
    chosen = query.get("state", "")
    found = appealing.visible_appeals(user).order_by("-pk")
    if chosen in STATES:
        found = found.filter(state=chosen)
    page = Paginator(found, PAGE).get_page(query.get("page"))
    return {
        "page": page,
        "rows": rows_of(page.object_list, user),
        "states": STATES,
        "chosen": chosen if chosen in STATES else "",
    }


def rows_of(appeals: Any, user: Any) -> list[dict[str, Any]]:
    """Several appeals, with as many queries for many as for few."""
    listed = list(appeals)
    readable = set(
        InstanceRecord.objects.visible_to(user)
        .filter(pk__in=[appeal.record_id for appeal in listed])
        .values_list("pk", flat=True)
    )
    return [
        {
            "appeal": appeal,
            "record": appeal.record,
            "run": appeal.record.run,
            "version": appeal.record.run.version,
            "is_own": appeal.opened_by_id == getattr(user, "pk", None),
            "shows_record": appeal.record_id in readable,
            "waits_for_key": correcting.waits_for_key(appeal),
            "waits_for_version": correcting.waits_for_version(appeal),
        }
        for appeal in listed
    ]


def appeal_context(appeal: Appeal, user: Any, *, problem: str = "") -> dict[str, Any]:
    """One appeal with its outcome, what followed, and what this person may do about it."""
    curates = has_role(user, "curator")
    row = row_of(appeal, user)
    correction = corrected_by(appeal, user)
    names_pass, names_version = (
        curates and (row[waits] or may_name_another(appeal, consequence))
        for waits, consequence in (
            ("waits_for_key", correcting.KEY),
            ("waits_for_version", correcting.VERSION),
        )
    )
    return {
        **row,
        "curates": curates,
        "followed": followed(appeal, user),
        "may_withdraw": row["is_own"]
        and appeal.state == Appeal.State.OPEN
        and not appeal.consequence,
        "names_pass": names_pass,
        "names_version": names_version,
        "most_reason": correcting.LONGEST_REASON,
        "passes": new_passes(appeal) if names_pass else [],
        "others": correcting.other_versions(row["record"]) if names_version else [],
        "corrected_by": correction,
        "carried": correcting.carried(appeal) if correction else None,
        "is_being_decided": is_being_decided(appeal),
        "problem": problem,
    }


def may_name_another(appeal: Appeal, consequence: str) -> bool:
    """Whether a curator may name something else than what was named to correct an appeal."""
    return correcting.is_named(appeal, consequence) and not correcting.is_settled(appeal)


def corrected_by(appeal: Appeal, user: Any) -> SuiteVersion | None:
    """The version that corrects what was contested, if this person may see it."""
    if appeal.version is None:
        return None
    found: SuiteVersion | None = (
        SuiteVersion.objects.visible_to(user).filter(pk=appeal.version_id).first()
    )
    return found


def new_passes(appeal: Appeal) -> QuerySet[ScoringPass]:
    """The passes made since an appeal was opened, of which one may use the new key."""
    assert appeal.record is not None
    passes = appeal.record.run.version.passes.filter(created_at__gte=appeal.opened_at)
    found: QuerySet[ScoringPass] = passes.order_by("-number")
    return found


def is_being_decided(appeal: Appeal) -> bool:
    """Whether an adjudicator has it before them."""
    held = (Seat.State.HELD, Seat.State.PENDING)
    return bool(Seat.objects.filter(item__appeal=appeal, state__in=held).exists())


def followed(appeal: Appeal, user: Any) -> str:
    """What came of an upheld appeal so far, as a sentence; empty where nothing had to follow."""
    if correcting.waits_for_key(appeal):
        return "It stays open until a curator names the pass that uses the corrected answer key."
    if correcting.waits_for_version(appeal):
        return "It stays open until a curator names the version that corrects it."
    if appeal.state != Appeal.State.UPHELD or appeal.record is None:
        return ""
    if appeal.consequence == Appeal.Consequence.REDECIDE:
        items = ReviewItem.objects.filter(record=appeal.record_id)
        waits = items.filter(state__in=(ReviewItem.State.OPEN, ReviewItem.State.DECIDED))
        if waits.exists() or hides_verdicts(appeal.record, user):
            return "The record is decided again by somebody who had no part in it."
        return "The record was decided again by somebody who had no part in it."
    if appeal.consequence == Appeal.Consequence.CRITERION:
        return about_criterion(appeal)
    if appeal.consequence == Appeal.Consequence.KEY:
        return about_pass(appeal.scoring_pass)
    if appeal.consequence == Appeal.Consequence.VERSION and not corrected_by(appeal, user):
        if appeal.version is None:
            return "The version that was named is gone; a curator names another."
        return "The version that corrects it is not published yet."
    return ""


def about_pass(named: ScoringPass | None) -> str:
    """Whether the pass with the corrected key counts; empty once it did."""
    if named is None or (named.state == ScoringPass.State.RETIRED and named.published_at is None):
        return "The pass that was named was replaced before it counted; a curator names another."
    if named.published_at is None:
        return f"Pass {named.number} is staged; it counts once it is published."
    return ""


def about_criterion(appeal: Appeal) -> str:
    """How far the vote on a contested criterion is."""
    if appeal.scoring_pass is not None:
        return f"The criterion is struck in pass {appeal.scoring_pass.number}, for every run."
    item = ReviewItem.objects.filter(
        criterion=appeal.criterion_id, queue__kind=defect_kind.DEFECTS
    ).first()
    came = None
    if item is not None and item.state == ReviewItem.State.RESOLVED:
        came = concluding.conclusion(item, defect_kind.QUESTION)
    if came is not None and came.value == defect_kind.DISMISSED:
        return "People voted on the criterion and kept it."
    return "Two people vote on whether the criterion is struck for every run."


def form_context(
    record: InstanceRecord, user: Any, *, text: str = "", criterion: str = "", problem: str = ""
) -> dict[str, Any]:
    """The page on which a record is contested, with the appeals there are on it."""
    version = record.run.version
    known = appealing.visible_appeals(user).filter(record=record).order_by("-pk")
    return {
        "record": record,
        "run": record.run,
        "version": version,
        "rows": rows_of(known, user),
        "criteria": criteria_of(record, user),
        "shows_criteria": shows_criteria(version, user),
        "shows_record": InstanceRecord.objects.visible_to(user).filter(pk=record.pk).exists(),
        "is_sealed": is_closed(version, user),
        "refusal": appealing.refusal(user, record),
        "most": appealing.LONGEST_TEXT,
        "text": text,
        "criterion": criterion,
        "problem": problem,
    }


def criteria_of(record: InstanceRecord, user: Any) -> list[Criterion]:
    """The criteria that can be contested one by one; their keys are sealed with their texts."""
    if not shows_criteria(record.run.version, user):
        return []
    return list(record.task.criteria.order_by("ordinal", "pk"))


def run_context(run: Run, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """The appeals on a run; its entrant finds a record to contest by its task's name."""
    speaks = entrants.speaks_for(user, run)
    name = query.get("task", "")[:300].strip()
    found: list[InstanceRecord] = []
    if speaks and name:
        records = InstanceRecord.objects.of_run(run.pk).filter(
            task__external_id=name, task__holdout=False
        )
        found = list(records.select_related("task").order_by("id")[:MOST_FOUND])
    known = appealing.visible_appeals(user).filter(record__run=run).order_by("-pk")
    page = Paginator(known, PAGE).get_page(query.get("page"))
    return {
        "run": run,
        "version": run.version,
        "page": page,
        "rows": rows_of(page.object_list, user),
        "speaks": speaks,
        "name": name,
        "found": [
            {"record": record, "url": reverse("adjudication:appeal-record", args=[record.pk])}
            for record in found
        ],
        "problem": f"This run has no record of a task {name!r}." if name and not found else "",
    }
