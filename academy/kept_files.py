"""Kept files by path: those of a version, and those of uploads of runs, opened when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from academy import blobs
from academy.models import SubmissionFile, SuiteVersion, TaskAsset
from academy.packs import kept_bytes


class UploadedFiles(Mapping[str, bytes]):
    """The files of some uploads by path, as they came, opened when asked for."""

    def __init__(self, submissions: Iterable[int]) -> None:
        rows = SubmissionFile.objects.filter(submission__in=list(submissions)).order_by("pk")
        self.rows = {row.path: row for row in rows}

    def __getitem__(self, path: str) -> bytes:
        return b"".join(kept_bytes(self.rows[path]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class StoredFiles(Mapping[str, bytes]):
    """The kept files of a version by path, opened when asked for.

    A drawing has no path of its own: it lies where its task's file refers to.
    """

    def __init__(self, version: SuiteVersion, *, only_assets: bool) -> None:
        assets = TaskAsset.objects.filter(task__version=version, blob__isnull=False)
        rows = assets.values_list("task__source", "ref", "blob_id")
        self.digests: dict[str, str] = {
            str(PurePosixPath(source).parent / ref): digest for source, ref, digest in rows
        }
        drawings = set(self.digests.values())
        for path, digest in version.files.values_list("path", "blob_id"):
            if digest in drawings or not only_assets:
                self.digests[path] = digest

    def __getitem__(self, path: str) -> bytes:
        return blobs.open_digest(self.digests[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self.digests)

    def __len__(self) -> int:
        return len(self.digests)
