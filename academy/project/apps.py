"""The admin site of the project."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class AdminConfig(DjangoAdminConfig):
    """Django's admin with our site, whose pages keep to the content security policy."""

    default_site = "academy.project.adminsite.AcademyAdminSite"

    def ready(self) -> None:
        """Every process knows the Celery application, so that any of them can nudge workers."""
        from academy.project import celery  # noqa: F401

        super().ready()
