"""Versions, their scoring passes and the results in these, to be read by programs.

Who may see what is decided by the same querysets and functions as on the pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.pagination import CursorPagination

from academy import pass_pages, piloting, run_pages
from academy.api.serializers import PassOut, ResultOut, VersionOut
from academy.models import Run, RunResult, ScoringPass, SuiteVersion
from academy.querysets import has_role

if TYPE_CHECKING:
    ListView = ListAPIView[Any]
    OneView = RetrieveAPIView[Any]
else:
    ListView, OneView = ListAPIView, RetrieveAPIView


class NewestFirst(CursorPagination):
    """Pages of rows from the newest on."""

    ordering = "-pk"


class OldestFirst(CursorPagination):
    """Pages of rows in the order in which they came."""

    ordering = "pk"


def version_of(view: Any) -> SuiteVersion:
    """The version that an address names, if this person may see it; else 404."""
    rows = SuiteVersion.objects.visible_to(view.request.user).select_related("suite")
    found: SuiteVersion = get_object_or_404(
        rows, suite__slug=view.kwargs["slug"], name=view.kwargs["name"]
    )
    return found


class VersionList(ListView):
    """All versions that may be seen, newest first."""

    serializer_class = VersionOut
    pagination_class = NewestFirst

    def get_queryset(self) -> QuerySet[SuiteVersion]:
        """The versions this person may see."""
        rows: QuerySet[SuiteVersion] = SuiteVersion.objects.visible_to(self.request.user)
        return rows.select_related("suite")

    def paginate_queryset(self, queryset: Any) -> Any:
        """A page of versions, with what the pilots among them must carry."""
        page = super().paginate_queryset(queryset)
        self.pilots = piloting.facts_of_pilots(page or ())
        return page

    def get_serializer_context(self) -> dict[str, Any]:
        """The pilots of the page."""
        return {**super().get_serializer_context(), "pilots": self.pilots}


class VersionDetail(OneView):
    """One version."""

    serializer_class = VersionOut

    def get_object(self) -> SuiteVersion:
        """The version that the address names."""
        version = version_of(self)
        self.pilots = piloting.facts_of_pilots([version])
        return version

    def get_serializer_context(self) -> dict[str, Any]:
        """What the version must carry if it is a pilot."""
        return {**super().get_serializer_context(), "pilots": self.pilots}


class PassList(ListView):
    """The passes of a version, retired ones too, newest first; staged ones for curators."""

    serializer_class = PassOut
    pagination_class = NewestFirst

    def get_queryset(self) -> QuerySet[ScoringPass]:
        """The passes this person may read."""
        return pass_pages.readable(version_of(self), self.request.user).order_by()


class PassDetail(OneView):
    """One pass of a version."""

    serializer_class = PassOut

    def get_object(self) -> ScoringPass:
        """The pass that the address names."""
        return named_pass(self)


def named_pass(view: Any) -> ScoringPass:
    """The pass that an address names, if this person may read it; else 404."""
    rows = pass_pages.readable(version_of(view), view.request.user)
    found: ScoringPass = get_object_or_404(rows, number=view.kwargs["number"])
    return found


class ResultList(ListView):
    """The results of runs in a pass, slices included; of a sealed version one coarse number a
    metric in the published pass only, since two passes side by side would give a key away."""

    serializer_class = ResultOut
    pagination_class = OldestFirst

    def get_queryset(self) -> QuerySet[RunResult]:
        """The results of the runs this person may see."""
        chosen, user = named_pass(self), self.request.user
        version = version_of(self)
        closed = run_pages.is_closed(version, user)
        if closed and chosen.state != ScoringPass.State.PUBLISHED:
            raise Http404
        rows = RunResult.objects.filter(
            scoring_pass=chosen, run__in=Run.objects.visible_to(user).filter(version=version)
        )
        if closed:
            rows = rows.filter(slice="", origin="computed")
        if closed and run_pages.hides_numbers(version, user):
            rows = rows.none()
        if not has_role(user, "curator", "auditor"):
            rows = rows.exclude(run__state=Run.State.FAILED)
        return rows.select_related(
            "metric", "run__entrant", "run__version__suite", "run__carried_from__version__suite"
        )

    def get_serializer_context(self) -> dict[str, Any]:
        """What a pilot says of itself beside each number."""
        told = piloting.sentence_on(version_of(self))
        return {**super().get_serializer_context(), "pilot": told}

    def paginate_queryset(self, queryset: Any) -> Any:
        """A page of results, each as fine as this person may see it."""
        page = super().paginate_queryset(queryset)
        listed = list(page if page is not None else queryset)
        return run_pages.without_fine_numbers(listed, version_of(self), self.request.user)
