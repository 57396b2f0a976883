"""Endpoints of boards: read only, and what they say is what the pages show."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from leaderboard import exporting
from leaderboard.choices import SORTS, WEIGHTS, Choice
from leaderboard.models import Board, Snapshot

CHOICE = [
    OpenApiParameter("sort", str, description=f"One of {', '.join(SORTS)}; with - turned round."),
    OpenApiParameter("slice", str, description="A slice by its name; it is shown, not ranked."),
    OpenApiParameter("step", int, description="The verification step from which entries show."),
    OpenApiParameter("like", str, description="A part of the entry's name or settings."),
    OpenApiParameter("cost", float, description="At most so many dollars a task, in the median."),
    OpenApiParameter("since", str, description="Entries since a month or a day, as ISO 8601."),
    OpenApiParameter("weights", str, description=f"One of {', '.join(WEIGHTS)}."),
    OpenApiParameter("measure", str, description="A second number in the score's place, unranked."),
    OpenApiParameter("col", str, many=True, description="Columns to show, as on the page."),
]


class BoardSerializer(serializers.ModelSerializer[Board]):
    """A board and where its standings are."""

    versions = serializers.SerializerMethodField()
    newest_snapshot = serializers.IntegerField(source="newest_number", allow_null=True)
    published_at = serializers.DateTimeField(source="newest_at", allow_null=True)
    is_stale = serializers.BooleanField(help_text="Whether newer results are being worked on.")
    standings = serializers.HyperlinkedIdentityField(
        view_name="board-standings", lookup_field="slug"
    )
    snapshots = serializers.HyperlinkedIdentityField(
        view_name="board-snapshots", lookup_field="slug"
    )

    class Meta:
        model = Board
        fields = (
            "slug", "title", "description", "revision", "is_example", "versions",
            "newest_snapshot", "published_at", "is_stale", "standings", "snapshots",
        )  # fmt: skip

    def get_versions(self, board: Board) -> list[str]:
        """The public versions, as SUITE@VERSION."""
        held = board.versions.all()
        return sorted(str(version) for version in held if version.state != "draft")


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    """A published snapshot without its rows: what moved since the one before it, and why."""

    class Meta:
        model = Snapshot
        fields = (
            "number", "board_revision", "digest", "published_at", "compared_with", "differences",
        )  # fmt: skip


class StandingsSerializer(serializers.Serializer[Any]):
    """A board as it stands or stood; a standing has far more fields than are named here."""

    board = serializers.SlugField()
    title = serializers.CharField()
    revision = serializers.IntegerField()
    snapshot = serializers.IntegerField()
    snapshot_digest = serializers.CharField()
    published_at = serializers.DateTimeField(allow_null=True)
    n = serializers.IntegerField(help_text="Items that count.")
    pilot = serializers.DictField(required=False, help_text="What a pilot must carry.")
    metric = serializers.DictField()
    policy = serializers.DictField()
    standings = serializers.ListField(child=serializers.DictField())
    baselines = serializers.ListField(child=serializers.DictField())
    withdrawn = serializers.ListField(child=serializers.DictField())
    slices = serializers.ListField(child=serializers.DictField())
    differences = serializers.ListField(child=serializers.DictField())
    chosen = serializers.DictField(help_text="What the address chose: rows, columns, an order.")
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="Parts of the address that this board lacks."
    )


class IndexSerializer(serializers.Serializer[Any]):
    """Where the collections begin."""

    versions = serializers.URLField(help_text="Versions of suites, with passes and results.")
    boards = serializers.URLField(help_text="Boards, with standings and snapshots.")
    schema = serializers.URLField(help_text="All endpoints, as OpenAPI.")


COLLECTIONS = {"versions": "api:versions", "boards": "board-list", "schema": "api:schema"}


class Index(APIView):
    """The collections there are, by name, each with its address."""

    @extend_schema(responses=IndexSerializer)
    def get(self, request: Request) -> Response:
        """The same for everybody."""
        told = {name: reverse(view, request=request) for name, view in COLLECTIONS.items()}
        return Response(told)


class BySlug(CursorPagination):
    """Boards in the order of their addresses."""

    ordering = ("slug",)


class ByNumber(CursorPagination):
    """Snapshots, the newest first."""

    ordering = ("-number",)


def visible_boards(request: Request) -> QuerySet[Board]:
    """The boards that this person may see, with their newest snapshot."""
    found: QuerySet[Board] = (
        Board.objects.visible_to(request.user)
        .with_newest()
        .prefetch_related("versions__suite")
        .order_by("slug")
    )
    return found


class BoardList(generics.ListAPIView[Board]):
    """All boards that may be seen."""

    serializer_class = BoardSerializer
    pagination_class = BySlug
    queryset = Board.objects.none()

    def get_queryset(self) -> QuerySet[Board]:
        """Only what this person may see."""
        return visible_boards(self.request)


class BoardDetail(generics.RetrieveAPIView[Board]):
    """One board."""

    serializer_class = BoardSerializer
    lookup_field = "slug"
    queryset = Board.objects.none()

    def get_queryset(self) -> QuerySet[Board]:
        """Only what this person may see."""
        return visible_boards(self.request)


class SnapshotList(generics.ListAPIView[Snapshot]):
    """The published snapshots of a board."""

    serializer_class = SnapshotSerializer
    pagination_class = ByNumber
    queryset = Snapshot.objects.none()

    def get_queryset(self) -> QuerySet[Snapshot]:
        """Those of a board that this person may see."""
        if "slug" not in self.kwargs:
            return self.queryset
        boards = Board.objects.visible_to(self.request.user)
        board = get_object_or_404(boards, slug=self.kwargs["slug"])
        found: QuerySet[Snapshot] = board.snapshots.public().defer("standings", "rows_html")
        return found


class Standings(APIView):
    """A board as it stands, or as it stood in a snapshot; the address takes what the page takes."""

    @extend_schema(parameters=CHOICE, responses=StandingsSerializer)
    def get(self, request: Request, slug: str, number: int | None = None) -> Response:
        """The document of the newest or the named snapshot. 404 while there is none."""
        board = get_object_or_404(Board.objects.visible_to(request.user), slug=slug)
        public = board.snapshots.public().order_by("-number")
        snapshot = public.first() if number is None else public.filter(number=number).first()
        if snapshot is None:
            raise Http404
        snapshot.board = board
        choice = Choice.read(request.query_params, snapshot.standings)
        return Response(exporting.document(snapshot, choice))
