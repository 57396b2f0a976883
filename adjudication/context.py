"""What every page knows of review: how many items wait for whoever looks at it."""

from __future__ import annotations

from typing import Any

from django.db.models import Sum
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from academy.querysets import has_role
from adjudication.entrants import own_runs
from adjudication.models import ItemTally, ReviewItem


def review(request: HttpRequest) -> dict[str, Any]:
    """The number beside "Review", counted when a page shows it and once per request."""
    user = getattr(request, "user", None)
    return {"review_waiting": SimpleLazyObject(lambda: waiting_for(user))}


def waiting_for(user: Any) -> int:
    """How many items wait in the queues that this person may work in; one query.

    Queues of a version on which they have a conflict do not count.
    """
    if not has_role(user, "reviewer", "adjudicator"):
        return 0
    states = [ReviewItem.State.OPEN]
    if has_role(user, "adjudicator"):
        states.append(ReviewItem.State.DECIDED)
    found = (
        ItemTally.objects.filter(state__in=states, number__gt=0, queue__is_paused=False)
        .exclude(queue__version__in=own_runs(user).values("version"))
        .exclude(queue__version__created_by=user)
    )
    return int(found.aggregate(total=Sum("number"))["total"] or 0)
