"""Pages, badges and checks of certificates."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from academy.errors import AcademyError, FormatError
from academy.formats.reading import read_json
from leaderboard import badges, certifying, verifying
from leaderboard.forms import CheckForm
from leaderboard.models import Board, Certificate, SigningKey

BADGES = {
    "valid": "ok", "under_review": "old", "superseded": "old", "expired": "old", "revoked": "rev",
}  # fmt: skip


def _certificate(request: HttpRequest, serial: str) -> Certificate:
    boards = Board.objects.visible_to(request.user)
    found: Certificate = get_object_or_404(
        Certificate.objects.filter(board__in=boards).select_related(
            "board", "run__entrant", "snapshot"
        ),
        serial=serial,
    )
    return found


@require_safe
def certificate_list(request: HttpRequest) -> HttpResponse:
    """The newest certificates, whatever their state."""
    boards = Board.objects.visible_to(request.user)
    rows = Certificate.objects.filter(board__in=boards).select_related("board", "run__entrant")
    now = timezone.now()
    held = [
        {"certificate": row, "state": certifying.state_of(row, now)}
        for row in rows.order_by("-pk")[:200]
    ]
    context = {"rows": held, "keys": SigningKey.objects.order_by("pk")}
    return render(request, "leaderboard/certificate_list.html", context)


@require_safe
def certificate_detail(request: HttpRequest, serial: str) -> HttpResponse:
    """A certificate, checked while the page is made."""
    certificate = _certificate(request, serial)
    state, checks = certifying.verify(certificate.document)
    context = {
        "certificate": certificate,
        "successor": certifying.successor_of(certificate),
        "document": certificate.document,
        "state": state,
        "checks": checks,
        "site_root": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "leaderboard/certificate_detail.html", context)


@require_safe
def certificate_json(request: HttpRequest, serial: str) -> JsonResponse:
    """The signed document."""
    response = JsonResponse(_certificate(request, serial).document)
    response["Content-Disposition"] = f'attachment; filename="{serial}.json"'
    return response


@require_safe
def certificate_badge(request: HttpRequest, serial: str) -> HttpResponse:
    """The badge, drawn from the live state; its words change with it."""
    certificate = _certificate(request, serial)
    state = certifying.state_of(certificate, timezone.now())
    held = certificate.document
    text = state.replace("_", " ")
    if state == "valid":
        score = f" {held['shown']} {held['unit']}".rstrip() if held["shown"] else ""
        text = f"{held['board_title']}: {held['tier']}{score}"
    svg = render_to_string(
        "leaderboard/_badge.svg", badges.badge(text, BADGES[state], held.get("pilot", ""))
    )
    response = HttpResponse(svg, content_type="image/svg+xml")
    response["Cache-Control"] = "no-cache"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


@csrf_exempt
@require_POST
def verify(request: HttpRequest) -> JsonResponse:
    """Whether a document is one of our certificates and in force; it changes nothing."""
    if len(request.body) > verifying.LONGEST:
        return _answer("invalid", [], "The document is too large.", 413)
    try:
        document = read_json(request.body, path="The certificate")
    except FormatError as error:
        return _answer("invalid", [], str(error), 400)
    if not isinstance(document, dict):
        return _answer("invalid", [], "A certificate is a JSON object.", 400)
    state, checks = certifying.verify(document)
    told = [{"name": check.name, "ok": check.ok, "detail": check.detail} for check in checks]
    return _answer(state, told, "", 200)


@require_http_methods(["GET", "HEAD", "POST"])
def certificate_check(request: HttpRequest) -> HttpResponse:
    """A page that checks a certificate that somebody uploads or pastes, ours or another's."""
    form = CheckForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {"form": form, "found": None, "problem": ""}
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            name, data = form.certificate()
            try:
                context["found"] = verifying.verify(
                    data, name=name, keys=form.keys(), at=timezone.now()
                )
                status = 200
            except AcademyError as error:
                context["problem"] = str(error)
    return render(request, "leaderboard/certificate_check.html", context, status=status)


def _answer(state: str, checks: list[dict[str, Any]], detail: str, status: int) -> JsonResponse:
    content = {"valid": state == "valid", "state": state, "checks": checks, "detail": detail}
    return JsonResponse(content, status=status)


@require_safe
def keys(request: HttpRequest) -> JsonResponse:
    """The public keys that ever signed here; old ones stay."""
    rows = SigningKey.objects.order_by("pk").values("name", "pem", "created_at")
    return JsonResponse({"keys": list(rows)})
