"""Celery jobs: nudges that make a worker look at the rows of work that are owed."""

from __future__ import annotations

import os
import socket
from datetime import datetime

from celery import shared_task
from django.db import transaction

from academy import work

DRAIN_SECONDS = 60.0


def owner() -> str:
    """The name of this worker process."""
    return f"{socket.gethostname()}:{os.getpid()}"


@shared_task
def drain() -> None:
    """Do the work that is due. Safe to run at any time, any number of times at once."""
    work.beat_heart(socket.gethostname())
    if not work.is_due():
        return
    # Another process may help; it sends one message too, so that all of them wake in turn.
    drain.delay()
    work.drain(owner(), seconds=DRAIN_SECONDS)


@shared_task
def beat() -> None:
    """Say that a worker is alive."""
    work.beat_heart(socket.gethostname())


def nudge() -> None:
    """Ask the workers to look, once the transaction has committed.

    A nudge that gets lost costs seconds, not work: beat sends one every 15 seconds.
    """
    transaction.on_commit(drain.delay, robust=True)


def nudge_at(at: datetime) -> None:
    """Ask the workers to look at a time to come, once the transaction has committed."""

    def send() -> None:
        drain.apply_async(eta=at)

    transaction.on_commit(send, robust=True)
