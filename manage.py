#!/usr/bin/env python
"""Django's command line, with the embedded servers up when no others are named."""

from __future__ import annotations

import os
import sys

WITHOUT_SERVERS = {"check", "help", "collectstatic", "--version", "--help"}


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "academy.project.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command not in WITHOUT_SERVERS:
        from academy.project.embedded import servers

        servers.ensure_from_environment()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
