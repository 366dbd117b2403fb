"""A generated client, used as its user would: a run that needs an approval, its timeline, and an error."""
import json
import os

import svcapi
import urllib3
from svcapi.api.files_api import FilesApi
from svcapi.api.runs_api import RunsApi
from svcapi.exceptions import ApiException
from svcapi.model.finalize_body import FinalizeBody
from svcapi.model.message_body import MessageBody
from svcapi.model.output_item import OutputItem
from svcapi.model.presign_body import PresignBody
from svcapi.model.reasoning_item import ReasoningItem
from svcapi.model.start_run_body import StartRunBody
from svcapi.model.user_message_item import UserMessageItem
from svcapi.model.user_task_req_item import UserTaskReqItem

configuration = svcapi.Configuration(host=os.environ["SVC_URL"], api_key={"apiKey": os.environ["SVC_API_KEY"]})
api = RunsApi(svcapi.ApiClient(configuration))
files = FilesApi(api.api_client)


def upload(text, most):
    """Stores a file: presign, PUT, finalize."""
    announced = PresignBody(filename="receipt.txt", media_type="text/plain", max_content_length=most)
    place = files.presign_file(presign_body=announced)
    headers = dict(place.required_headers)
    put = urllib3.PoolManager().request("PUT", place.upload_url, body=text.encode(), headers=headers)
    finalize = FinalizeBody(object_key=place.object_key, max_content_length=most)
    try:
        return put.status, 200, files.finalize_file(finalize_body=finalize)
    except ApiException as error:
        return put.status, error.status, None


put, finalized, _ = upload("more than it said", 4)
print(f"File of more bytes than announced: {put}, {finalized}")
try:
    files.presign_file(presign_body=PresignBody(filename="huge.bin", media_type="text/plain", max_content_length=2**40))
except ApiException as error:
    print(f"File of 1 TiB: {error.status}: {json.loads(error.body)['code']}")
_, _, file = upload("Paid 180 EUR", 12)
print(f"File: {file.size_bytes} bytes")

receipt = {"svcFile": True, "filename": file.filename, "mediaType": file.media_type}
body = StartRunBody(input={"order": "A-1042", "amount": 180, "receipt": receipt})
started = api.start_run(os.environ["SVC_AGENT"], start_run_body=body)
paused = api.get_run(started.run_id, prefer="wait=10")
pending = paused.pending.value[0]
print(f"{paused.status}: {pending.kind} of {pending.call.name} for {pending.call.arguments['amount']}")

approval = MessageBody(run_id=started.run_id, user_task_id=pending.user_task_id, approved=True)
api.send_run_message(started.run_id, message_body=approval)
done = api.get_run(started.run_id, prefer="wait=10")
print(f"{done.status}: {done.output['refunded']} refunded")

for item in api.get_conversation(started.run_id).items:
    if isinstance(item, UserMessageItem):
        print(f"UserMessage: {len(item.content.files)} file")
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
