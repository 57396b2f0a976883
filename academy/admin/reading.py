"""What admin pages have in common: who reads, acts on and changes what they list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from academy.querysets import has_role
from academy.templatetags.display import short_digest

if TYPE_CHECKING:
    BaseAdmin = admin.ModelAdmin[Any]
else:
    BaseAdmin = admin.ModelAdmin


@admin.display(description="digest", ordering="digest")
def digest_column(row: Any) -> str:
    """The digest of a row, shortened so that a list stays as wide as its page."""
    return short_digest(row.digest)


def told(number: int, one: str, many: str) -> str:
    """A sentence that begins with a number, in the words that go with it."""
    return f"{number:,} {one if number == 1 else many}."


class CuratorAdmin(BaseAdmin):
    """Pages for curators, who also do the acts that a page offers."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        """The section is there for curators."""
        return has_role(request.user, "curator")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Curators read."""
        return has_role(request.user, "curator")

    def has_curate_permission(self, request: HttpRequest) -> bool:
        """Curators act."""
        return has_role(request.user, "curator")


class ReadOnlyAdmin(CuratorAdmin):
    """Shows rows. Nothing is added, changed or deleted by hand: services do that."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows come through services."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows change through services."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing is deleted by hand."""
        return False


class CuratedAdmin(CuratorAdmin):
    """Rows that curators keep by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Curators add."""
        return has_role(request.user, "curator")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Curators change."""
        return has_role(request.user, "curator")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Curators remove."""
        return has_role(request.user, "curator")
