"""Whoever holds a seat sees the drawings of the task, as raster copies, even of sealed versions."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from academy import blobs, drawings, rasterising
from academy.models import TaskAsset
from adjudication.models import Seat
from tests.academy.test_rasterising import HALL
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db


def seat_with_drawing() -> tuple[Seat, TaskAsset]:
    """A held seat on a sealed version, whose task has a drawing and its copy."""
    queue = build.waiting_queue(2, notes=True)
    seat = build.claimed(queue, build.reviewer("anna"))
    record = seat.item.record
    assert record is not None
    asset = TaskAsset.objects.create(
        task=record.task, ref="hall.svg", media_type=drawings.SVG, blob=blobs.store_blob(HALL)
    )
    rasterising.owe_copies(record.run.version)
    build.do_work()
    asset.refresh_from_db()
    return seat, asset


def test_the_bench_shows_the_drawing_to_whoever_holds_the_seat(client: Client) -> None:
    seat, asset = seat_with_drawing()
    client.force_login(seat.holder)
    address = reverse("adjudication:asset", args=[seat.pk, asset.pk])
    page = client.get(reverse("adjudication:seat", args=[seat.pk])).content.decode()
    assert f'src="{address}"' in page
    response = client.get(address)
    assert response["Content-Type"] == "image/png"
    assert response["Content-Security-Policy"].startswith("sandbox")
    assert drawings.kind_of(response.content) == drawings.PNG


def test_nobody_else_gets_it_through_the_seat(client: Client) -> None:
    seat, asset = seat_with_drawing()
    address = reverse("adjudication:asset", args=[seat.pk, asset.pk])
    assert client.get(address).status_code == 302
    for person in (build.reviewer("ben"), build.person("stranger"), build.person("c", "curator")):
        client.force_login(person)
        assert client.get(address).status_code == 404


def test_a_seat_opens_the_files_of_its_own_task_only(client: Client) -> None:
    seat, asset = seat_with_drawing()
    record = seat.item.record
    assert record is not None
    other = record.run.version.tasks.exclude(pk=record.task_id).get()
    elsewhere = TaskAsset.objects.create(task=other, ref="x.svg", raster=asset.raster)
    client.force_login(seat.holder)
    address = reverse("adjudication:asset", args=[seat.pk, elsewhere.pk])
    assert client.get(address).status_code == 404


def test_a_file_without_a_copy_is_named_with_the_reason(client: Client) -> None:
    seat, asset = seat_with_drawing()
    TaskAsset.objects.filter(pk=asset.pk).update(raster=None, media_type="application/pdf")
    client.force_login(seat.holder)
    page = client.get(reverse("adjudication:seat", args=[seat.pk])).content.decode()
    assert "No raster copy" in page
    assert client.get(reverse("adjudication:asset", args=[seat.pk, asset.pk])).status_code == 404
