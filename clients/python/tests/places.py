"""The servers that these tests talk to. `test/client/python.test.ts` starts them and runs the tests; see CONTRIBUTING.md."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    url: str
    key: str
    agent: str
    restart: str = ""


def place(name: str) -> Place:
    servers: dict[str, Any] = json.loads(os.environ["SVC_TEST_SERVERS"])
    return Place(**servers[name])
