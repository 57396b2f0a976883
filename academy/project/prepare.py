"""What make run needs before it serves: the tables, the examples, and the logins to tell.

One process for the three commands: starting Django three times would take longer than they do.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command


def main() -> None:
    """Migrate, load the examples, and print the logins; everything else goes to stderr."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "academy.project.settings")
    django.setup()
    # WhiteNoise warns of every start without it, even where it serves from the sources.
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
    call_command("migrate", verbosity=0, stdout=sys.stderr)
    if not settings.PRODUCTION:
        call_command("load_examples", stdout=sys.stderr)
        call_command("example_logins")


if __name__ == "__main__":
    main()
