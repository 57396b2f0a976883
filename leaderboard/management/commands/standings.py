"""manage.py standings BOARD [--json]: the ranks that the page shows."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from academy import piloting
from leaderboard import exporting, standings
from leaderboard.models import Board


class Command(BaseCommand):
    """Print the newest standings of a board."""

    help = "Print the newest standings of a board."

    def add_arguments(self, parser: CommandParser) -> None:
        """BOARD and --json."""
        parser.add_argument("board", help="the board's slug")
        parser.add_argument("--json", action="store_true", help="print all values as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Refresh the snapshot if anything changed, and print it."""
        board = Board.objects.filter(slug=options["board"]).first()
        if board is None:
            known = ", ".join(Board.objects.order_by("slug").values_list("slug", flat=True))
            raise CommandError(
                f"There is no board {options['board']!r}. Boards: {known or 'none'}."
            )
        snapshot = standings.publish_snapshot(board)
        if snapshot is None:
            raise CommandError(f"The board {board.slug} has no public version with scores yet.")
        if options["json"]:
            printed = exporting.document(snapshot)
            self.stdout.write(json.dumps(printed, indent=2, ensure_ascii=False))
            return
        self.stdout.write(f"{board.title}, snapshot {snapshot.number}")
        if pilot := piloting.pilot_sentence(snapshot.standings.get("pilot")):
            self.stdout.write(pilot)
        for row in snapshot.standings["standings"]:
            self.stdout.write(line(row))


def line(row: dict[str, Any]) -> str:
    """One entry as a line of text."""
    rank = "–" if row["rank"] is None else str(row["rank"])
    interval = f"{row['shown_low']} – {row['shown_high']}" if row["shown_low"] else "–"
    return f"{rank:>4}  {row['shown'] or '–':>10}  {interval:>18}  {row['name']}  {row['reason']}"
