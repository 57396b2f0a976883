"""python -m academy.project.embedded start|stop|status [--data DIR]: the embedded servers by hand.

keep and throwaway are for the supervisor and for the tests: they stay in the foreground.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from academy.project.embedded import servers
from academy.project.embedded.throwaway import keep_throwaway

LOOK_SECONDS = 1.0


def say(text: str) -> None:
    """Write a line at once, also into a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def keep(data_dir: Path) -> None:
    """Start again whatever ends, until told to stop."""
    names = servers.wanted_from_environment()
    say(f"keeping {' and '.join(sorted(names))} in {data_dir / 'embedded'}")
    while True:
        if not servers.all_alive(data_dir, names=names):
            say("a server is gone; starting it again")
            servers.ensure(data_dir, names=names)
            say("all servers answer")
        time.sleep(LOOK_SECONDS)


def main(arguments: list[str]) -> int:
    """Run one command; 1 when it failed or, for status, when the servers do not run."""
    parser = argparse.ArgumentParser(prog="python -m academy.project.embedded")
    parser.add_argument("command", choices=["start", "stop", "status", "keep", "throwaway"])
    parser.add_argument("--data", type=Path, help="the data folder (default: ACADEMY_DATA)")
    chosen = parser.parse_args(arguments)
    data_dir = chosen.data or servers.data_dir_from_environment()
    found = None
    try:
        match chosen.command:
            case "throwaway":
                keep_throwaway()
            case "keep":
                keep(data_dir)
            case "start":
                found = servers.ensure(data_dir, stay=True)
            case "stop":
                servers.stop(data_dir)
            case "status":
                found = servers.running(data_dir)
                if found is None:
                    say("not running")
                    return 1
    except servers.EmbeddedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if found is not None:
        say(f"DATABASE_URL={found.database_url}\nREDIS_URL={found.redis_url}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
