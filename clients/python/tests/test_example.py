"""examples/python, as its user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from svc_agents import Svc

from .places import place
from .test_pages import ROOT


def test_refund_follows_a_run_until_a_person_has_decided_and_prints_the_output() -> None:
    at = place("desk")
    env = {**os.environ, "SVC_API_KEY": at.key, "SVC_URL": at.url, "PYTHONUNBUFFERED": "1"}
    args = [sys.executable, str(ROOT / "examples/python/refund.py"), at.agent, f"A-{os.getpid()}", "180"]
    program = subprocess.Popen(args, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stderr and program.stdout
    line = next(each for each in program.stderr if each.startswith("svc approve "))
    with Svc(api_key=at.key, base_url=at.url) as client:
        task = client.get_task(line.split()[2])
        client.answer_task(task.run_id, task, True)
    output, told = program.communicate(timeout=60)
    assert (program.returncode, json.loads(output)) == (0, {"refunded": 180})
    assert told.splitlines()[-1] == "engine.session.completed"
