"""A generated client, used as its user would: a run that needs an approval, its timeline, and an error."""
import json
import os

import svcapi
from svcapi.api.runs_api import RunsApi
from svcapi.exceptions import ApiException
from svcapi.model.message_body import MessageBody
from svcapi.model.output_item import OutputItem
from svcapi.model.reasoning_item import ReasoningItem
from svcapi.model.start_run_body import StartRunBody
from svcapi.model.user_task_req_item import UserTaskReqItem

configuration = svcapi.Configuration(host=os.environ["SVC_URL"], api_key={"apiKey": os.environ["SVC_API_KEY"]})
api = RunsApi(svcapi.ApiClient(configuration))
body = StartRunBody(input={"order": "A-1042", "amount": 180})
started = api.start_run(os.environ["SVC_AGENT"], start_run_body=body)
paused = api.get_run(started.run_id, prefer="wait=10")
pending = paused.pending.value[0]
print(f"{paused.status}: {pending.kind} of {pending.call.name} for {pending.call.arguments['amount']}")

approval = MessageBody(run_id=started.run_id, user_task_id=pending.user_task_id, approved=True)
api.send_run_message(started.run_id, message_body=approval)
done = api.get_run(started.run_id, prefer="wait=10")
print(f"{done.status}: {done.output['refunded']} refunded")

for item in api.get_conversation(started.run_id).items:
    if isinstance(item, ReasoningItem) and item.content.text:
        print(f"Reasoning: {item.content.text}")
    if isinstance(item, UserTaskReqItem):
        print(f"UserTaskReq: {item.content.title}")
    if isinstance(item, OutputItem):
        print(f"Output: {item.content.output['refunded']}")
try:
    api.get_run("00000000-0000-7000-8000-000000000000")
except ApiException as error:
    print(f"{error.status}: {json.loads(error.body)['code']}")
