"""Accounts: who runs the site keeps them; curators see who there is."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from academy.querysets import has_role

User = get_user_model()
admin.site.unregister(User)


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]
    """Curators choose accounts by name and read that they are there, nothing else of them."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Curators, and who keeps accounts."""
        return has_role(request.user, "curator") or super().has_view_permission(request, obj)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """The section is there for who may view it."""
        return self.has_view_permission(request)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """All that is kept, or the name and whether it may sign in."""
        if super().has_view_permission(request, obj):
            return super().get_fieldsets(request, obj)
        return ((None, {"fields": ("username", "is_active")}),)

    def get_list_display(self, request: HttpRequest) -> Any:
        """Likewise."""
        if super().has_view_permission(request):
            return super().get_list_display(request)
        return ("username", "is_active")

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Likewise."""
        return super().get_list_filter(request) if super().has_view_permission(request) else ()

    def get_search_fields(self, request: HttpRequest) -> Any:
        """Likewise."""
        if super().has_view_permission(request):
            return super().get_search_fields(request)
        return ("username",)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """A list cut by what may not be read would tell it all the same."""
        if request is None or not super().has_view_permission(request):
            return lookup.partition("__")[0] in ("id", "pk", "username", "is_active")
        return super().lookup_allowed(lookup, value, request)
