"""What a transcript's page loads beside itself: raster copies of its pictures."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from academy.models import RecordPicture
from academy.requests import SiteRequest
from academy.views import picture, visible_record


@require_safe
def record_picture(request: SiteRequest, pk: int, digest: str) -> HttpResponse:
    """The raster copy of a picture in a record that this person may see; else 404."""
    record = visible_record(request, pk)
    copies = RecordPicture.objects.filter(record=record).select_related("raster")
    found: RecordPicture = get_object_or_404(copies, digest=digest)
    return picture(found.raster)
