"""The HTTP API of svc for programs: start runs of agents, follow them, answer what they ask."""

from . import types
from ._async.client import AsyncSvc
from ._async.stream import AsyncEventStream
from ._sync.client import Svc
from ._sync.stream import EventStream
from ._version import __version__
from .decisions import TaskDecision
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .files import UploadedFile, UploadSource, file_item, file_ref
from .values import is_terminal, is_waiting, step_of, value_reference
from .webhooks import verify_webhook

__all__ = [
    "AsyncEventStream",
    "AsyncSvc",
    "EventStream",
    "Svc",
    "TaskDecision",
    "UploadSource",
    "UploadedFile",
    "__version__",
    "file_item",
    "file_ref",
    "is_terminal",
    "is_waiting",
    "step_of",
    "types",
    "value_reference",
    "verify_webhook",
]
__all__ += _errors
