"""Small files kept once under their digest."""

from __future__ import annotations

import hashlib

from academy import packs
from academy.models import Blob


def store_blob(data: bytes, *, media_type: str = "") -> Blob:
    """Keep the bytes; the same bytes again are the same row."""
    digest = hashlib.sha256(data).hexdigest()
    blob, _created = Blob.objects.get_or_create(
        digest=digest,
        defaults={"size": len(data), "media_type": media_type, "content": packs.compress(data)},
    )
    return blob


def open_blob(blob: Blob) -> bytes:
    """The bytes that were kept."""
    return packs.decompress(bytes(blob.content))


def open_digest(digest: str) -> bytes:
    """The bytes that were kept under a digest."""
    return open_blob(Blob.objects.get(pk=digest))
