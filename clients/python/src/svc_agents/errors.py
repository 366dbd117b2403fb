"""Everything that the client raises. A failing status raises the class of its `code` where there is one here, else that of its status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from ._readers import many, one
from .types import ErrorDetail, MessageAccepted, RunStatus


class SvcError(Exception):
    """Any failure of a call, or of the run that was followed."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[SvcError], args: tuple[object, ...], attributes: dict[str, Any]) -> SvcError:
    """Exceptions travel between processes: task queues pickle them."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class SvcConnectionError(SvcError):
    """No answer: the connection was refused or cut, or the answer is unreadable. What was asked for may have happened."""

    def __init__(self, message: str, path: str, *, sent: bool = True, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.sent = sent
        """False: the request never left, so nothing happened."""
        self.idempotency_key = idempotency_key
        """With this key again, the call happens once at most."""


class SvcTimeoutError(SvcConnectionError, TimeoutError):
    """The time was up. What was asked for may still happen."""


class SvcWebhookError(SvcError):
    """A delivery that was not signed with the secret, or not now."""


class RunFailedError(SvcError):
    """The run that `run_to_end` followed has failed."""

    def __init__(self, run: RunStatus) -> None:
        why = f": {run.error}" if run.error else "."
        super().__init__(f"Run {run.run_id} ended as {run.status}{why}{f' ({run.error_code})' if run.error_code else ''}")
        self.run = run

    @property
    def code(self) -> str | None:
        """Why the run failed, for programs: `limit_exceeded`, `model_error`, …"""
        return self.run.error_code


class RunCancelledError(RunFailedError):
    """The run that `run_to_end` followed was cancelled."""


class SvcStatusError(SvcError):
    """A failing HTTP status. The sentence of the server is the message."""

    for_code: ClassVar[str | None] = None
    for_status: ClassVar[int | None] = None

    def __init__(
        self,
        *,
        method: str,
        status: int,
        path: str,
        body: str,
        request_id: str | None = None,
        retry_after: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        words = words_of(body)
        self.status = status
        self.method = method
        self.path = path
        """Path of the request, without its query."""
        self.body = body
        """The body as it came, often JSON text; the first 64 KiB of it."""
        self.code = text_of(words, "code")
        """`not_found`, `input_contract_violation`, …"""
        self.fix = text_of(words, "fix")
        """What to do, where the server says it."""
        self.request_id = text_of(words, "requestId") or request_id
        self.retry_after = retry_after
        """Seconds that the server asks to wait."""
        self.idempotency_key = idempotency_key
        said = text_of(words, "error")
        about = ", ".join(each for each in (self.code, self.request_id and f"request {self.request_id}") if each)
        super().__init__(f"{method} {path} answered {status}{f': {said}' if said else '.'}{about and f' ({about})'}")

    @property
    def details(self) -> tuple[ErrorDetail, ...]:
        """Every part of the request that is wrong, by its path."""
        found: tuple[ErrorDetail, ...] = many(one(ErrorDetail))(words_of(self.body).get("details"))
        return found


class BadRequestError(SvcStatusError):
    for_status = 400


class AuthenticationError(SvcStatusError):
    """There is no key, or it is not valid."""

    for_status = 401


class PermissionDeniedError(SvcStatusError):
    for_status = 403


class ApprovalNotAllowedError(PermissionDeniedError):
    """The trigger of this key starts runs, and who starts does not approve; the task waits for somebody else."""

    for_code = "approval_not_allowed"


class UploadsNotAllowedError(PermissionDeniedError):
    for_code = "uploads_not_allowed"


class DeleteNotAllowedError(PermissionDeniedError):
    for_code = "delete_not_allowed"


class PlanLimitExceededError(PermissionDeniedError):
    for_code = "plan_limit_exceeded"


class StorageLimitExceededError(PermissionDeniedError):
    for_code = "storage_limit_exceeded"


class NotFoundError(SvcStatusError):
    for_status = 404


class CompletionNotFoundError(NotFoundError):
    for_code = "completion_not_found"


class ConflictError(SvcStatusError):
    for_status = 409


class AgentPausedError(ConflictError):
    for_code = "agent_paused"


class CompletionUsedError(ConflictError):
    """Another report has ended the call."""

    for_code = "completion_used"


class IdempotencyKeyReusedError(ConflictError):
    for_code = "idempotency_key_reused"


class NoDeployedVersionError(ConflictError):
    for_code = "no_deployed_version"


class SessionErasedError(ConflictError):
    for_code = "session_erased"


class SessionNotEndedError(ConflictError):
    for_code = "session_not_ended"


class TooLargeError(SvcStatusError):
    for_status = 413


class InvalidInputError(SvcStatusError):
    for_status = 422


class InputContractViolationError(InvalidInputError):
    """The input is not what the agent takes; `details` says where."""

    for_code = "input_contract_violation"


class RateLimitedError(SvcStatusError):
    for_status = 429


class ConcurrencyLimitedError(RateLimitedError):
    for_code = "concurrency_limited"


class ServerError(SvcStatusError):
    """Any status of 500 and more."""


class ServiceUnavailableError(ServerError):
    """The server took nothing on: it starts, ends, or has no room."""

    for_status = 503


class AnswerRefusedError(SvcStatusError):
    """An answer, message or signal was accepted by HTTP and refused by the run, which goes on as it was."""

    for_status = 202
    accepted: MessageAccepted
    """The answer of the server."""


class ArgumentsChangedError(AnswerRefusedError):
    """Somebody edited the arguments after the task was shown. Read it again, then decide."""

    for_code = "arguments_changed"


class NotAnApproverError(AnswerRefusedError):
    for_code = "not_an_approver"


class RunNotWaitingError(AnswerRefusedError):
    for_code = "run_not_waiting"


class TaskAlreadyCompletedError(AnswerRefusedError):
    for_code = "task_already_completed"


def status_error(
    *,
    method: str,
    status: int,
    path: str,
    body: str,
    request_id: str | None = None,
    retry_after: float | None = None,
    idempotency_key: str | None = None,
) -> SvcStatusError:
    """Of the class for its code, or for its status."""
    code = text_of(words_of(body), "code")
    kind = (
        (_BY_CODE.get((status, code)) if code else None)
        or _BY_STATUS.get(status)
        or (ServerError if status >= 500 else SvcStatusError)
    )
    return kind(
        method=method,
        status=status,
        path=path,
        body=body,
        request_id=request_id,
        retry_after=retry_after,
        idempotency_key=idempotency_key,
    )


def is_refusal(error: Exception) -> bool:
    """What the server says of the request itself, and would say again; anything else may pass."""
    return isinstance(error, SvcStatusError) and error.status < 500 and error.status not in (408, 429)


def words_of(body: str) -> Mapping[str, Any]:
    """The body where it is an object; nothing of a proxy's page."""
    try:
        words = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return words if isinstance(words, dict) else {}


def text_of(words: Mapping[str, Any], name: str) -> str | None:
    value = words.get(name)
    return value if isinstance(value, str) else None


def _descendants(kind: type[SvcStatusError]) -> list[type[SvcStatusError]]:
    return [found for each in kind.__subclasses__() for found in (each, *_descendants(each))]


_BY_STATUS = {
    each.for_status: each for each in _descendants(SvcStatusError) if each.for_status is not None and each.for_code is None
}
_BY_CODE = {(each.for_status, each.for_code): each for each in _descendants(SvcStatusError) if each.for_code is not None}

__all__ = [
    "AgentPausedError",
    "AnswerRefusedError",
    "ApprovalNotAllowedError",
    "ArgumentsChangedError",
    "AuthenticationError",
    "BadRequestError",
    "CompletionNotFoundError",
    "CompletionUsedError",
    "ConcurrencyLimitedError",
    "ConflictError",
    "DeleteNotAllowedError",
    "IdempotencyKeyReusedError",
    "InputContractViolationError",
    "InvalidInputError",
    "NoDeployedVersionError",
    "NotAnApproverError",
    "NotFoundError",
    "PermissionDeniedError",
    "PlanLimitExceededError",
    "RateLimitedError",
    "RunCancelledError",
    "RunFailedError",
    "RunNotWaitingError",
    "ServerError",
    "ServiceUnavailableError",
    "SessionErasedError",
    "SessionNotEndedError",
    "StorageLimitExceededError",
    "SvcConnectionError",
    "SvcError",
    "SvcStatusError",
    "SvcTimeoutError",
    "SvcWebhookError",
    "TaskAlreadyCompletedError",
    "TooLargeError",
    "UploadsNotAllowedError",
]
