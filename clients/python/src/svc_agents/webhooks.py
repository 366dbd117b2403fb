"""Checks notices that svc sends, by the convention of Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence

from .errors import SvcWebhookError
from .types import JsonValue

_TOLERANCE = 5 * 60
"""Seconds. Clocks may differ, and a delivery may be slow; an older one may be a repetition by somebody else."""


def verify_webhook(secret: str | Sequence[str], headers: Mapping[str, str], body: bytes | str) -> JsonValue:
    """
    The body of a delivery, parsed, where its signature over id, time and body is one of a secret, and its time is within five
    minutes of now. `webhook-id` is the same for every try of a notice: whoever keeps those that were handled handles none twice.

    :param secret: of the sender, `whsec_` and base64; several while they are exchanged
    :param body: as it came; a body that was parsed and written again has another signature
    :raises SvcWebhookError: for any other delivery
    """
    keys = [_bytes_of(each.removeprefix("whsec_")) for each in ([secret] if isinstance(secret, str) else secret)]
    if not all(keys) or not keys:
        raise SvcWebhookError("The secret is empty.")
    given = {name.lower(): value for name, value in headers.items()}
    delivery = _header(given, "webhook-id")
    timestamp = _header(given, "webhook-timestamp")
    signatures = _header(given, "webhook-signature")
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > _TOLERANCE:
        raise SvcWebhookError("The time of the delivery is not within five minutes of now.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{delivery}.{timestamp}.".encode() + content
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    for each in signatures.split(" "):
        version, _, signature = each.partition(",")
        if version != "v1":
            continue
        found = _bytes_of(signature)
        # The comparison takes the same time wherever they differ.
        if any([hmac.compare_digest(found, right) for right in expected]):
            return _json_of(content)
    raise SvcWebhookError("No signature of the delivery is one of this secret.")


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise SvcWebhookError(f"The delivery has no {name}.")
    return value


def _bytes_of(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise SvcWebhookError("The secret or the signature is not base64.") from None


def _json_of(content: bytes) -> JsonValue:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise SvcWebhookError("The body of the delivery is not JSON.") from None
