"""Presign, PUT and finalize in one call."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from .._request import Request, request_of
from ..errors import SvcStatusError
from ..files import CHUNK_BYTES, Source, UploadedFile, UploadSource, media_type_of, source_of
from ..types import Finalized, Presigned
from .connection import AsyncConnection
from .platform import read_chunk


class AsyncFiles:
    _connection: AsyncConnection

    async def presign_file(self, *, filename: str, media_type: str, max_content_length: int) -> Presigned:
        """A time-limited address for one upload: POST /v1/file-library/presign."""
        body = {"filename": filename, "mediaType": media_type, "maxContentLength": max_content_length}
        return await self._connection.ask(Presigned, request_of("POST", "/v1/file-library/presign", body=body))

    async def finalize_file(
        self, *, object_key: str, max_content_length: int, filename: str | None = None, media_type: str | None = None
    ) -> Finalized:
        """Registers what was uploaded: POST /v1/file-library/finalize."""
        body: dict[str, object] = {"objectKey": object_key, "maxContentLength": max_content_length}
        body.update({} if filename is None else {"filename": filename})
        body.update({} if media_type is None else {"mediaType": media_type})
        return await self._connection.ask(Finalized, request_of("POST", "/v1/file-library/finalize", body=body))

    async def upload_workspace_file(
        self, file: UploadSource, *, filename: str | None = None, media_type: str | None = None, size: int | None = None
    ) -> UploadedFile:
        """
        Presign, PUT and finalize. A file is bytes, a `Path`, or an open file, which is read from where it stands; one that cannot be
        rewound needs its `size`. Nothing is held in memory. `filename` of the result is the leaf of `object_key`, as a file reference
        in a run's input needs it.
        """
        source = source_of(file, size)
        label = filename or source.name or "file"
        kind = media_type or media_type_of(label)
        presigned = await self._put_with_fresh_address(source, label, kind)
        await self.finalize_file(
            object_key=presigned.object_key, max_content_length=source.size, filename=label, media_type=kind
        )
        leaf = presigned.object_key.rpartition("/")[2]
        return UploadedFile(object_key=presigned.object_key, filename=leaf, media_type=kind)

    async def _put_with_fresh_address(self, source: Source, label: str, kind: str) -> Presigned:
        """An address that has expired is asked for once more."""
        first = await self.presign_file(filename=label, media_type=kind, max_content_length=source.size)
        try:
            await self._put(first, source)
            return first
        except SvcStatusError as error:
            has_expired = error.status == 403 and re.search("expired", error.body, re.IGNORECASE)
            if not has_expired or not source.is_repeatable:
                raise
        second = await self.presign_file(filename=label, media_type=kind, max_content_length=source.size)
        await self._put(second, source)
        return second

    async def _put(self, presigned: Presigned, source: Source) -> None:
        async def content() -> AsyncIterator[bytes]:
            opened = source.open()
            try:
                while chunk := await read_chunk(opened, CHUNK_BYTES):
                    yield chunk
            finally:
                if source.is_ours:
                    opened.close()

        headers = {**(presigned.required_headers or {}), "Content-Length": str(source.size)}
        request = Request(method=presigned.http_method or "PUT", path=presigned.upload_url, headers=headers)
        await self._connection.send(
            request,
            timeout=presigned.expires_in_seconds,
            max_retries=None if source.is_repeatable else 0,
            content=content,
        )
