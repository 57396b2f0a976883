"""manage.py example_logins: who can log in where the examples are loaded, and what to try."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from academy import demonstrating


class Command(BaseCommand):
    """Print the accounts of the examples; nothing where they are not loaded."""

    help = "Print the accounts of the examples."

    def handle(self, *args: Any, **options: Any) -> None:
        """One line per account."""
        lines = demonstrating.logins()
        if lines:
            self.stdout.write("\n".join(["Sign in as (user / password):", *lines]))
