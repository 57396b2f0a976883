"""manage.py load_examples: the example suites, runs and accounts, once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from academy import demonstrating
from academy.management.printing import refusing


class Command(BaseCommand):
    """Load the examples; loaded before, do and print nothing. Exit 1 in production."""

    help = "Load the example suites, runs and accounts, once."

    def handle(self, *args: Any, **options: Any) -> None:
        """Load, and say so."""
        with refusing(self, as_json=False):
            if demonstrating.load_examples():
                self.stdout.write(
                    "Examples loaded: two suites, six runs, six accounts. Workers score the runs."
                )
