"""The admin site."""

from __future__ import annotations

from django.contrib.admin import AdminSite


class AcademyAdminSite(AdminSite):
    """Django's admin under the project's name."""

    site_header = "Academy"
    site_title = "Academy admin"
    index_title = "Curation"
    enable_nav_sidebar = False
