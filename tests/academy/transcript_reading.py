"""Transcripts as they are asked for and read."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from academy.models import InstanceRecord


def page(client: Client, record: InstanceRecord, query: str = "", **headers: str) -> str:
    """The page of a record."""
    response = client.get(reverse("academy:record", args=[record.pk]) + query, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def steps(client: Client, record: InstanceRecord, query: str = "?from=0") -> str:
    """The part of it that htmx asks for."""
    return page(client, record, query, **{"HX-Request": "true", "HX-Target": "steps"})
