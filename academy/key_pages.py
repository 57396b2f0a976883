"""What the page of a version's answer keys shows to curators: never a key, unless it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator

from academy import auditing, confirming, keying, specs
from academy.errors import AcademyError
from academy.models import AnswerKey, KeyConfirmation, SuiteVersion

PAGE = 50


def keys_context(version: SuiteVersion, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """The keys of a version by task, how far their raters agree, and what waits for a person."""
    newest = specs.latest_keys(version)
    waiting = {key.pk for key in confirming.unconfirmed(version, newest.values())}
    tasks = Paginator(version.tasks.order_by("ordinal"), PAGE).get_page(query.get("page"))
    shown = [key for task in tasks if (key := newest.get(task.pk))]
    confirmed = {
        row.key_id: row
        for row in KeyConfirmation.objects.filter(key__in=shown).select_related("person")
    }
    rows = []
    for task in tasks:
        key = newest.get(task.pk)
        rows.append(
            {
                "task": task,
                "key": key,
                "is_needed": keying.needs_key(task.gradings),
                "waits": key is not None and key.pk in waiting,
                "confirmation": confirmed.get(key.pk) if key else None,
            }
        )
    return {
        "version": version,
        "suite": version.suite,
        "page": tasks,
        "rows": rows,
        "waiting": len(waiting),
        "missing": keying.tasks_without_key(version),
        "agreement": list(keying.agreement_of(version).items()),
        "opened": opened(version, user, query.get("open", ""), newest),
    }


def opened(
    version: SuiteVersion, user: Any, ordinal: str, newest: Mapping[int, AnswerKey]
) -> dict[str, Any] | None:
    """The consensus in one key with what each rater said; opening it is noted."""
    if not ordinal.isdecimal() or len(ordinal) > 8:
        return None
    task = version.tasks.filter(ordinal=int(ordinal)).first()
    key = newest.get(task.pk) if task is not None else None
    parts = confirming.consensus_of(version, key) if key is not None else []
    if not parts:
        return None
    auditing.expose(user, task=task, what="consensus of raters", why="page of answer keys")
    listed = [{**part, "measured": part["values"]} for part in parts]
    return {"task": task, "parts": listed}


def confirm(version: SuiteVersion, given: Any, *, by: Any) -> str:
    """Confirm the consensus in the chosen keys, or in all that wait; gives a sentence."""
    newest = specs.latest_keys(version).values()
    waiting = confirming.unconfirmed(version, newest)
    if not given.get("all"):
        chosen = set(given.getlist("key"))
        waiting = [key for key in waiting if str(key.pk) in chosen]
    if not waiting:
        raise AcademyError("Choose the keys whose consensus you confirm.")
    made = confirming.confirm(waiting, by=by, reason=given.get("reason", ""))
    return f"The consensus in {made} answer key{'' if made == 1 else 's'} is confirmed."
