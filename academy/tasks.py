"""Celery jobs: nudges that make a worker look at the rows of work that are owed."""

from __future__ import annotations

import logging
import os
import socket
from datetime import datetime

from celery import shared_task
from django.db import transaction
from kombu.exceptions import OperationalError

from academy import scheduling, work

logger = logging.getLogger(__name__)
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
    send_nudge()
    work.drain(owner(), seconds=DRAIN_SECONDS)


@shared_task
def beat() -> None:
    """Say that a worker is alive, and notice when scorers were released with the program."""
    work.beat_heart(socket.gethostname())
    scheduling.owe_release()


def nudge() -> None:
    """Ask the workers to look, once the transaction has committed."""
    transaction.on_commit(send_nudge, robust=True)


def nudge_at(at: datetime) -> None:
    """Ask the workers to look at a time to come, once the transaction has committed."""

    def send() -> None:
        send_nudge(eta=at)

    transaction.on_commit(send, robust=True)


def send_nudge(eta: datetime | None = None) -> None:
    """Send the message. One that gets lost costs seconds, not work: beat sends one every 3."""
    try:
        if eta is None:
            drain.delay()
        else:
            drain.apply_async(eta=eta)
    except OperationalError:
        logger.warning("no broker answers; the work is kept and is done when a worker starts")
