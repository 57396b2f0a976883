"""Pages of a reviewer's own choices: how often the digest comes, and switching it off by link."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from academy.querysets import has_role
from academy.requests import SiteRequest
from adjudication import digesting
from adjudication.models import ReviewPreference
from adjudication.views import signed_in


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def preferences(request: SiteRequest) -> HttpResponse:
    """What a reviewer chose, to be changed."""
    if not has_role(request.user, "reviewer", "adjudicator"):
        raise Http404
    chosen = digesting.preference_of(request.user).digest
    problem = ""
    if request.method == "POST":
        given = request.POST.get("digest", "")
        if given in ReviewPreference.Digest.values:
            digesting.choose(request.user, given)
            messages.success(request, "Kept.")
            return redirect("adjudication:preferences")
        problem = "Choose how often the digest comes."
    context = {
        "choices": ReviewPreference.Digest.choices,
        "chosen": chosen,
        "problem": problem,
        "digest": digesting.digest_of(request.user),
    }
    status = 422 if problem else 200
    return render(request, "adjudication/preference_detail.html", context, status=status)


# The signed address is the authority: mail programs post to it without a cookie or a token.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def unsubscribe(request: SiteRequest, token: str) -> HttpResponse:
    """Switch the digest off by the link of a mail. Opening the link alone changes nothing, since
    programs that look for bad links open them all."""
    person = digesting.person_of(token)
    if person is None:
        raise Http404
    if request.method == "POST":
        digesting.choose(person, ReviewPreference.Digest.OFF)
    context = {"is_off": digesting.preference_of(person).digest == ReviewPreference.Digest.OFF}
    return render(request, "adjudication/unsubscribe.html", context)
