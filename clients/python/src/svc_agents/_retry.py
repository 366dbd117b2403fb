"""When a request is sent again, and after how long."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

from .errors import SvcConnectionError, SvcError, SvcStatusError, is_refusal


def retry_delay(attempt: int) -> float:
    """
    Seconds before attempt `attempt` (2 for the first repetition): 0.5 s doubling to 8 s, less up to a quarter, so that clients that
    failed together do not retry together.
    """
    return min(8.0, 0.5 * 2.0 ** min(attempt - 2, 10)) * (1 - random.random() / 4)


def parse_retry_after(header: str | None) -> float | None:
    """Seconds of a `Retry-After`: a number or an HTTP date. None when it is absent or cannot be read."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def retry_after_of(error: SvcError) -> float | None:
    return error.retry_after if isinstance(error, SvcStatusError) else None


def may_repeat(method: str, is_repeatable: bool, error: SvcError) -> bool:
    """
    Where nothing can happen twice. Every request that was not sent or not accepted (429, 503); after a broken connection, 408 or
    5xx only a GET, and after a broken connection what has an idempotency key.
    """
    if isinstance(error, SvcConnectionError):
        return not error.sent or method == "GET" or is_repeatable
    if not isinstance(error, SvcStatusError):
        return False
    return error.status in (429, 503) or (method == "GET" and error.status >= 400 and not is_refusal(error))
