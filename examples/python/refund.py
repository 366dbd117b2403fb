"""
Starts a refund, tells what happens as it happens and whom it waits for, and prints the output once a person has decided.

    SVC_URL=http://127.0.0.1:4310 SVC_API_KEY=… python refund.py AGENT_ID A-1042 180
"""

from __future__ import annotations

import json
import sys

from svc_agents import Svc, is_terminal


def main(agent_id: str, order: str = "A-1042", amount: str = "180") -> None:
    with Svc() as client:
        # The same key twice is the same run: this program may be started again after a broken connection.
        given = {"order": order, "amount": float(amount)}
        started = client.start_run(agent_id, given, idempotency_key=f"refund-{order}")
        with client.stream_run_events(started.run_id) as events:
            for event in events:
                print(event.subject, file=sys.stderr)
                if event.subject != "engine.session.paused":
                    continue
                for task in client.pending_tasks(started.run_id):
                    print(f"svc approve {task.user_task_id}   {task.arguments}: {task.reason}", file=sys.stderr)
        run = client.get_run(started.run_id)
    if not is_terminal(run.status) or run.error:
        sys.exit(run.error or run.status)
    print(json.dumps(run.output))


if __name__ == "__main__":
    main(*sys.argv[1:])
