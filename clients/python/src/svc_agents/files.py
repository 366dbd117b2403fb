"""Files on their way: where their bytes come from, and how inputs and messages refer to them."""

from __future__ import annotations

import io
import mimetypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from .types import FileItem, FileReference

UploadSource = bytes | bytearray | memoryview | os.PathLike[str] | IO[bytes]
"""A file on a disk is a `Path`; an open file is read from where it stands."""

CHUNK_BYTES = 256 * 1024

_MEDIA_TYPES = {".md": "text/markdown", ".webp": "image/webp", ".yaml": "application/yaml", ".yml": "application/yaml"}
"""Those that not every Python knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    object_key: str
    filename: str
    """Leaf of `object_key`."""
    media_type: str


def file_ref(upload: UploadedFile) -> FileReference:
    """The file as a value inside a run's `input`."""
    return {"svcFile": True, "filename": upload.filename, "mediaType": upload.media_type}


def file_item(upload: UploadedFile) -> FileItem:
    """The file as an item of a message's `files`."""
    return {
        "svcFile": True,
        "objectKey": upload.object_key,
        "filename": upload.filename,
        "mediaType": upload.media_type,
    }


def media_type_of(filename: str) -> str:
    ending = os.path.splitext(filename)[1].lower()
    return _MEDIA_TYPES.get(ending) or mimetypes.guess_type(filename)[0] or "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Source:
    size: int
    name: str | None
    is_repeatable: bool
    """False for bytes that are gone once they were read."""
    open: Callable[[], IO[bytes]]
    is_ours: bool
    """Whether what `open` gives is closed after use."""


def source_of(file: UploadSource, size: int | None) -> Source:
    if isinstance(file, (bytes, bytearray, memoryview)):
        content = bytes(file)
        return Source(len(content), None, True, lambda: io.BytesIO(content), True)
    if isinstance(file, os.PathLike):
        path = os.fspath(file)
        return Source(os.stat(path).st_size, os.path.basename(path), True, lambda: open(path, "rb"), True)
    if not callable(getattr(file, "read", None)) or isinstance(file, io.TextIOBase):
        raise TypeError("A file is bytes, a pathlib.Path, or a file that was opened to read bytes.")
    opened = file
    name = getattr(file, "name", None)
    label = os.path.basename(name) if isinstance(name, str) else None
    if not _is_seekable(opened):
        if size is None:
            raise TypeError("A stream is uploaded with its `size` in bytes.")
        return Source(size, label, False, lambda: opened, False)
    start = opened.tell()
    rest = opened.seek(0, os.SEEK_END) - start
    opened.seek(start)

    def again() -> IO[bytes]:
        opened.seek(start)
        return opened

    return Source(rest, label, True, again, False)


def _is_seekable(file: IO[bytes]) -> bool:
    seekable: Any = getattr(file, "seekable", None)
    return bool(seekable and seekable())
