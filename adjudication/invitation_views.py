"""Pages of invitations: curators make and revoke them, whoever has a link accepts it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from academy.errors import AcademyError
from academy.querysets import has_role
from academy.requests import SiteRequest
from adjudication import inviting
from adjudication.invitation_forms import InvitationForm, SignUpForm
from adjudication.inviting import UnusableInvitationError
from adjudication.models import Invitation
from adjudication.views import signed_in

PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@never_cache
def invitation_list(request: SiteRequest) -> HttpResponse:
    """All invitations, and the form for a new one, whose link is shown this once."""
    if not has_role(request.user, "curator"):
        raise Http404
    form = InvitationForm(request.POST if request.method == "POST" else None)
    link, status = "", 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                made = inviting.invite(**form.cleaned_data, by=request.user)
            except AcademyError as error:
                form.add_error(None, str(error))
            else:
                address = reverse("adjudication:invitation", args=[made.token])
                link, status, form = request.build_absolute_uri(address), 200, InvitationForm()
    rows = Invitation.objects.select_related("organization", "created_by", "accepted_by")
    context = {
        "form": form,
        "link": link,
        "page": Paginator(rows.order_by("-pk"), PAGE).get_page(request.GET.get("page")),
        "now": timezone.now(),
    }
    return render(request, "adjudication/invitation_list.html", context, status=status)


@require_POST
@signed_in
def revoke(request: SiteRequest, pk: int) -> HttpResponse:
    """Take an invitation back."""
    if not has_role(request.user, "curator"):
        raise Http404
    invitation = get_object_or_404(Invitation, pk=pk)
    if inviting.revoke(invitation, by=request.user):
        messages.success(request, "The invitation is taken back; its link opens nothing any more.")
    else:
        messages.error(request, "It was used or taken back already.")
    return redirect("adjudication:invitations")


@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def invitation_detail(request: SiteRequest, token: str) -> HttpResponse:
    """An invitation as whoever has its link finds it: to accept, to sign up, or why not."""
    try:
        invitation = inviting.usable(token)
        if request.method == "POST":
            if request.user.is_authenticated:
                return accept(request, token)
            return sign_up(request, token, invitation)
    except UnusableInvitationError as error:
        return render(request, "adjudication/invitation_over.html", {"why": error}, status=410)
    return accept_page(request, token, invitation, SignUpForm())


def accept_page(
    request: SiteRequest, token: str, invitation: Invitation, form: SignUpForm, status: int = 200
) -> HttpResponse:
    """The page with the button for people with an account, or the form for others."""
    context = {"invitation": invitation, "form": form, "here": request.path}
    return render(request, "adjudication/invitation_detail.html", context, status=status)


def accept(request: SiteRequest, token: str) -> HttpResponse:
    """Take the role with the account of whoever is signed in."""
    try:
        accepted = inviting.accept(token, user=request.user)
    except UnusableInvitationError:
        raise
    except AcademyError as error:
        messages.error(request, str(error))
        return redirect("adjudication:queues")
    messages.success(
        request, f"You are now {accepted.role} for {accepted.organization.name}. Welcome."
    )
    return redirect("adjudication:queues")


def sign_up(request: SiteRequest, token: str, invitation: Invitation) -> HttpResponse:
    """Make an account, sign it in, and go to the queues."""
    form = SignUpForm(request.POST)
    if form.is_valid():
        try:
            user = inviting.sign_up(
                token,
                username=form.cleaned_data["username"],
                password=form.cleaned_data["password1"],
                email=form.cleaned_data["email"],
            )
        except UnusableInvitationError:
            raise
        except AcademyError as error:
            form.add_error("username", str(error))
        else:
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            messages.success(request, f"You are now {invitation.role}. Welcome.")
            return redirect("adjudication:queues")
    return accept_page(request, token, invitation, form, status=422)
