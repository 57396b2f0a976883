"""Runs one command and ends it when the supervisor is gone, even when that was killed.

python -m academy.project.leash SUPERVISOR_PID COMMAND...

A supervisor that is killed cannot stop its children; they would go on and keep the port. So it
is watched, and the kernel is asked to end the command too should this process be killed.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from types import FrameType

GRACE_SECONDS = 8.0
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main(arguments: list[str]) -> int:
    """Run the command in a process group of its own; its exit code is ours."""
    supervisor, *command = arguments
    try:
        supervisor_end = os.pidfd_open(int(supervisor))
    except ProcessLookupError:
        return 1
    libc = ctypes.CDLL(None)

    def end_with_us() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    # This process has one thread, so that running code in the fork is safe.
    child = subprocess.Popen(command, process_group=0, preexec_fn=end_with_us)

    def ask_to_end(_signal: int, _frame: FrameType | None) -> None:
        # Only the main process: Celery and granian end their own in the right order.
        child.terminate()

    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, ask_to_end)
    child_end = os.pidfd_open(child.pid)
    ended, _, _ = select.select([supervisor_end, child_end], [], [])
    if child_end not in ended:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    code = child.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
