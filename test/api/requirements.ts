/**
 * Every observable sentence of the two source documents, by an id that tests name (`verifies`).
 * `docs/design/http.md` and `docs/design/authoring-format.md` name each id. What svc adds is not here: its tests stand on their own.
 */
interface Requirement {
  readonly source: string
  readonly says: string
}

const HTTP = 'HTTP API'
const AUTHORING = 'Authoring format'

export const requirements = {
  // HTTP API: what the service does
  'service.deployed-only': {
    source: `${HTTP}, "What the service does", 2`,
    says: 'Runs started over the API execute the deployed snapshot of the agent version, never a draft.',
  },
  'service.prefix': {
    source: `${HTTP}, introduction`,
    says: 'Every route path begins with /v1 and there is no other path prefix.',
  },
  'service.upload-address': { source: `${HTTP}, introduction`, says: 'Uploads go to a separate address.' },
  'service.hitl': {
    source: `${HTTP}, "What the service does", 4`,
    says: 'When the model reaches an operation that requires approval, the run pauses and a user task is created.',
  },
  'values.uuid': {
    source: `${HTTP}, "Resources and their fields"`,
    says: 'All identifiers named UUID are strings in UUID format.',
  },
  'values.timestamps': {
    source: `${HTTP}, "Resources and their fields"`,
    says: 'All timestamps are ISO-8601 strings.',
  },
  'keys.prefix': { source: `${HTTP}, "API key"`, says: 'An API key is a secret string with the fixed prefix svc_.' },
  'keys.uploads-off': { source: `${HTTP}, "API key"`, says: 'Allow file uploads is off by default.' },
  'keys.scope': {
    source: `${HTTP}, "Authentication", 2`,
    says: 'A key has a scope naming one agent and one API trigger.',
  },
  'triggers.expose-on': {
    source: `${HTTP}, "API trigger"`,
    says: 'Expose step timeline to API clients is on by default.',
  },
  'triggers.api-only': {
    source: `${HTTP}, "API trigger"`,
    says: 'Only API triggers have HTTP start routes.',
  },
  'triggers.allow-ips': {
    source: `${HTTP}, "API trigger"`,
    says: 'A trigger may have IP allowlists.',
  },

  // Starting
  'start.accepted': {
    source: `${HTTP}, "POST /v1/agents/{agentId}/runs"`,
    says: 'Success is 202 with sessionId, runId, status, totalTokensUsed and output.',
  },
  'start.running': {
    source: `${HTTP}, "States and transitions"`,
    says: 'An accepted start has the status Running and the work continues asynchronously.',
  },
  'start.input-optional': {
    source: `${HTTP}, "POST /v1/agents/{agentId}/runs"`,
    says: 'The body and its input are optional.',
  },
  'start.input-contract': {
    source: `${HTTP}, "POST /v1/agents/{agentId}/runs"`,
    says: 'The shape of input must match the input contract of the deployed version.',
  },
  'start.scope-agent': { source: `${HTTP}, "Authentication", 3`, says: 'The key must match the agentId in the path.' },
  'start.scope-trigger': {
    source: `${HTTP}, "Authentication", 3`,
    says: 'The key must match the trigger in its scope.',
  },
  'start.rate-limit': {
    source: `${HTTP}, "Limits", 1`,
    says: 'Rate limits configured on the API trigger apply to starting runs.',
  },
  'start.concurrency': {
    source: `${HTTP}, "Limits", 1`,
    says: 'Concurrency limits configured on the API trigger apply to starting runs.',
  },
  'start.plan': { source: `${HTTP}, "Limits", 1`, says: 'Plan checks apply to starting runs.' },
  'start.no-duplicate-mark': {
    source: `${HTTP}, "Start-run response"`,
    says: 'duplicateDelivery is not set by a normal API start.',
  },
  'start.file-reference': {
    source: `${HTTP}, "File reference inside a run input"`,
    says: 'The service matches filename to a file of the workspace before the run executes.',
  },

  // Sessions
  'sessions.list': {
    source: `${HTTP}, "GET /v1/agents/{agentId}/sessions"`,
    says: 'The response has items, an array of session list items, and total, all rows matching the filter.',
  },
  'sessions.scope': {
    source: `${HTTP}, "GET /v1/agents/{agentId}/sessions"`,
    says: 'The key is scoped to the same agent.',
  },
  'sessions.skip-take': {
    source: `${HTTP}, "Limits", 4`,
    says: 'Pagination uses skip and take; total counts all matching rows.',
  },
  'sessions.version': { source: `${HTTP}, "Versioning", 3`, says: 'The session list can be filtered with versionId.' },
  'sessions.item': { source: `${HTTP}, "Session list item"`, says: 'A session list item has the fields of its table.' },

  // Runs
  'runs.get': {
    source: `${HTTP}, "Run status object"`,
    says: 'The run status object has runId, equal to the path, status, and output, null when there is none.',
  },
  'runs.get.error': { source: `${HTTP}, "Errors"`, says: 'error is set when the run failed.' },
  'runs.get.scope': { source: `${HTTP}, "Authentication", 4`, says: 'The key must authorize access to the run.' },
  'runs.get.never-redacted': {
    source: `${HTTP}, "Authentication", 7`,
    says: 'GET /v1/runs/{runId} is never redacted.',
  },

  // Conversation
  'conversation.shape': {
    source: `${HTTP}, "GET /v1/runs/{runId}/conversation"`,
    says: 'The response has session, runs (sub-agent runs included) and items.',
  },
  'conversation.session': { source: `${HTTP}, "Session"`, says: 'The session has the fields of its table.' },
  'conversation.run': { source: `${HTTP}, "Run summary"`, says: 'A run summary has the fields of its table.' },
  'conversation.item': { source: `${HTTP}, "Timeline item"`, says: 'A timeline item has the fields of its table.' },
  'conversation.ordinal': {
    source: `${HTTP}, "Timeline item"`,
    says: 'ordinal is the 1-based position after the whole session timeline is merged and sorted.',
  },
  'conversation.sequence': { source: `${HTTP}, "Timeline item"`, says: 'sequence is monotonic per run.' },
  'conversation.synthetic': {
    source: `${HTTP}, "Events"`,
    says: 'The timeline contains synthetic rows of type RunCompleted and SessionCompleted.',
  },
  'conversation.user-task-id': {
    source: `${HTTP}, "Timeline item"`,
    says: 'The content of a UserTaskReq step includes user_task_id.',
  },
  'conversation.slim': {
    source: `${HTTP}, "GET /v1/runs/{runId}/conversation"`,
    says: 'With stepContent=slim, contents that are objects omit six keys; other shapes are unchanged.',
  },
  'conversation.full-by-default': {
    source: `${HTTP}, "GET /v1/runs/{runId}/conversation"`,
    says: 'stepContent is full by default.',
  },
  'conversation.redacted': {
    source: `${HTTP}, "Authentication", 7`,
    says: 'In output-only mode items are completion rows, run outputs, errors and inputs are cleared, session input and startContext are null.',
  },
  'conversation.operator': {
    source: `${HTTP}, "Authentication", 7`,
    says: 'Dashboard views are unaffected by redaction.',
  },

  // Stream
  'stream.content-type': {
    source: `${HTTP}, "GET /v1/runs/{runId}/stream"`,
    says: 'The response is text/event-stream.',
  },
  'stream.one-line': { source: `${HTTP}, "Events"`, says: 'Each event is a single JSON value on one SSE data line.' },
  'stream.event': {
    source: `${HTTP}, "Stream event object"`,
    says: 'An event has ts, kind (step, session, run, user_task or aitl), subject and data.',
  },
  'stream.redacted': {
    source: `${HTTP}, "Authentication", 7`,
    says: 'In output-only mode events of kind step, user_task and aitl and engine.subagent.spawned are dropped.',
  },
  'stream.live': { source: `${HTTP}, "Events"`, says: 'The service emits a live event stream per run.' },

  // Answering
  'messages.two-paths': {
    source: `${HTTP}, "POST /v1/runs/{runId}/input and /messages"`,
    says: 'Two paths with identical behavior.',
  },
  'messages.accepted': {
    source: `${HTTP}, "POST /v1/runs/{runId}/input and /messages"`,
    says: 'Success is 202 with a status.',
  },
  'messages.run-id': { source: `${HTTP}, rule 1`, says: 'runId in the body must match the path.' },
  'messages.something': {
    source: `${HTTP}, rule 2`,
    says: 'The body must contain userTaskId, non-empty text or message, or at least one file.',
  },
  'messages.approve': { source: `${HTTP}, "Request body"`, says: 'approved true runs the pending tool call.' },
  'messages.reject': { source: `${HTTP}, "Request body"`, says: 'approved false rejects the pending tool call.' },
  'messages.approved-default': {
    source: `${HTTP}, "Request body"`,
    says: 'approved defaults to true when applicable.',
  },
  'messages.option': { source: `${HTTP}, "Request body"`, says: 'selectedOptionId answers a multi-option task.' },
  'messages.text-value': { source: `${HTTP}, "Request body"`, says: 'textValue answers a text task.' },
  'messages.number-value': { source: `${HTTP}, "Request body"`, says: 'numberValue answers a number task.' },
  'messages.metadata': { source: `${HTTP}, "Request body"`, says: 'metadata is stored on the user task.' },
  'messages.text': { source: `${HTTP}, "Request body"`, says: 'text replies to a run in WaitingForResponse.' },
  'messages.alias': { source: `${HTTP}, "Request body"`, says: 'message is an alias of text.' },
  'messages.files': { source: `${HTTP}, "Request body"`, says: 'files attaches workspace files to a user turn.' },
  'messages.file-item': {
    source: `${HTTP}, "File item in a message body"`,
    says: 'A file item has svcFile true and an objectKey.',
  },
  'messages.email': {
    source: `${HTTP}, "Request body"`,
    says: 'completedByEmail is a claim that nobody relies on.',
  },
  'messages.operator-only': {
    source: `${HTTP}, rule 3`,
    says: 'Some user tasks are completable only in the dashboard.',
  },
  'messages.rejected': { source: `${HTTP}, "Errors"`, says: 'A rejected follow-up has error in the 202 body.' },
  'messages.hidden-timeline': {
    source: `${HTTP}, "Authentication", 7`,
    says: 'With the setting off, tasks cannot be completed through the API.',
  },

  // Files
  'files.presign': {
    source: `${HTTP}, "POST /v1/file-library/presign"`,
    says: 'Presign answers objectKey, uploadUrl, httpMethod PUT, requiredHeaders and expiresInSeconds.',
  },
  'files.presign-storage': {
    source: `${HTTP}, "Limits", 2`,
    says: 'The plan file-storage limit is checked at presign.',
  },
  'files.put': {
    source: `${HTTP}, "PUT {upload_url}"`,
    says: 'The bytes are sent with every header of requiredHeaders; no fixed Content-Length is signed.',
  },
  'files.put-limit': { source: `${HTTP}, "Limits", 2`, says: 'maxContentLength must be at least the real byte size.' },
  'files.expires': {
    source: `${HTTP}, "Limits", 3`,
    says: 'A presigned upload address is time-limited by expiresInSeconds.',
  },
  'files.finalize': {
    source: `${HTTP}, "POST /v1/file-library/finalize"`,
    says: 'Finalize registers the uploaded file for the workspace.',
  },
  'files.finalize-labels': {
    source: `${HTTP}, "POST /v1/file-library/finalize"`,
    says: 'objectKey and maxContentLength are required; filename and mediaType are optional labels.',
  },
  'files.same-key': {
    source: `${HTTP}, "Upload and use flow"`,
    says: 'The same key is used for presign, finalize and run calls.',
  },
  'files.uploads-flag': {
    source: `${HTTP}, "Errors"`,
    says: 'A file-library route called with a key lacking Allow file uploads is 403.',
  },

  // Authentication
  'auth.key-required': { source: `${HTTP}, "Authentication", 1`, says: 'Every route requires the header X-API-Key.' },
  'requests.json': {
    source: `${HTTP}, "Endpoints"`,
    says: 'Requests with a body carry Content-Type: application/json.',
  },

  // States
  'states.waiting': {
    source: `${HTTP}, "States and transitions"`,
    says: 'A paused run has a waiting status and continues, pauses again or completes after a successful answer.',
  },
  'states.no-task': {
    source: `${HTTP}, "States and transitions"`,
    says: 'A run that finishes without a pause has no user task.',
  },
  'states.hitl-flow': {
    source: `${HTTP}, "HITL flow over the API"`,
    says: 'Poll, find the UserTaskReq, complete it, poll again.',
  },

  // Client library
  'client.methods': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'The client has one method per row of the table.',
  },
  'client.key-header': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'It sets X-API-Key on each call.',
  },
  'client.input-path': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'sendRunMessage sets runId in the body, and { path: "input" } selects the input path.',
  },
  'client.error': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'A failed status throws an error with status, path and the response body.',
  },
  'client.upload': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'uploadWorkspaceFile does presign, PUT and finalize in one call.',
  },
  'client.options': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'apiKey is required, baseUrl and fetch are optional overrides.',
  },
  'client.stream': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'streamRunEvents yields one JSON object per event.',
  },
  'client.types': {
    source: `${HTTP}, "TypeScript client library mapping"`,
    says: 'The types of the conversation and of common step contents are exported.',
  },

  // Authoring format
  'authoring.kinds': {
    source: `${AUTHORING}, "What the service does", 2`,
    says: 'Exactly one of the kinds Agent, Tool, Policy and Bundle is valid per document.',
  },
  'authoring.api-version': { source: `${AUTHORING}, "Common"`, says: 'apiVersion is the constant svc/v1.' },
  'authoring.unknown-properties': {
    source: `${AUTHORING}, "Resources and their fields"`,
    says: 'Objects reject unknown properties unless stated otherwise.',
  },
  'authoring.identity': {
    source: `${AUTHORING}, "Common"`,
    says: 'name, namespace and version are required, non-empty strings.',
  },
  'authoring.labels': {
    source: `${AUTHORING}, "Common"`,
    says: 'labels and annotations are maps of string to string.',
  },
  'authoring.agent.fields': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'An Agent has metadata and spec, and optionally secrets and output beside spec.',
  },
  'authoring.agent.governance': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'governance has risk_tier, authority_boundaries, classifications and frameworks, all optional.',
  },
  'authoring.agent.secrets': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A secret name matches ^[a-z][a-z0-9_-]*$ and names an environment variable with fromEnv.',
  },
  'authoring.agent.instructions': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'instructions has exactly one of ref and text; version applies with ref.',
  },
  'authoring.agent.purpose': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'purpose is not executed as a prompt.',
  },
  'authoring.agent.model': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'model has provider and name; any other non-empty provider is accepted.',
  },
  'authoring.agent.base-url': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'base_url is required for vendor_b-compatible and absent for every other provider.',
  },
  'authoring.agent.model-secret': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'secret names a key of secrets, and may be omitted when one named after the provider exists.',
  },
  'authoring.agent.parameters': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'temperature and top_p are not both set.',
  },
  'authoring.agent.parameters-passed': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'Parameters are passed through to the provider per completion.',
  },
  'authoring.agent.effort': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'reasoning.effort is low, medium or high.',
  },
  'authoring.agent.output': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'output has format, schema, strict and on_invalid; format is text by default.',
  },
  'authoring.agent.default-policies': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'default_policies are applied to every tool binding.',
  },
  'authoring.schema-spec': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A schema spec has exactly one of ref and inline.',
  },
  'authoring.policy-attachment': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A policy attachment is a logical id or an object with ref.',
  },
  'authoring.tool-binding': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A tool binding has ref, as, description, input_schema, side_effect_class, mcp and policies.',
  },
  'authoring.tool-binding.forbidden': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A binding does not set name, version, parameters, policy or agent.',
  },
  'authoring.tool-binding.version': {
    source: `${AUTHORING}, "Versioning", 3`,
    says: 'A tool reference pins a version or a semver constraint.',
  },
  'authoring.side-effect-class': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A side-effect class is one of four words.',
  },
  'authoring.mcp-server': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'An MCP server has a unique name, an HTTPS url, a transport and auth.',
  },
  'authoring.mcp-server.auth': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'auth has scheme bearer or header, a secret, and a header when the scheme is header.',
  },
  'authoring.agent-binding': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A sub-agent binding is a path, a pinned id, or floating when late_bound.',
  },
  'authoring.agent-binding.late-bound': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'A late-bound sub-agent is the active deployment at call time and is excluded from the closure.',
  },
  'authoring.agent-binding.result': {
    source: `${AUTHORING}, "Agent document"`,
    says: 'result is summary by default (the final output); full includes the step trace.',
  },
  'authoring.tool.fields': {
    source: `${AUTHORING}, "Tool document"`,
    says: 'A Tool has description, side_effect_class, input_schema, output_schema and default_policies, all optional.',
  },
  'authoring.policy.fields': {
    source: `${AUTHORING}, "Policy document"`,
    says: 'A Policy has description, scope, allow, conditions and decision, all optional.',
  },
  'authoring.policy.scope': {
    source: `${AUTHORING}, "Policy document"`,
    says: 'scope limits the bindings to which a policy applies.',
  },
  'authoring.policy.decision': {
    source: `${AUTHORING}, "Policy document"`,
    says: 'A decision has a type; block is treated as deny.',
  },
  'authoring.policy.timeout': {
    source: `${AUTHORING}, "Policy document"`,
    says: 'timeout has after_minutes and default deny, allow or escalate.',
  },
  'authoring.policy.conditions': {
    source: `${AUTHORING}, "Policy document"`,
    says: 'Leaf nodes compare fields; interior nodes are all, any or not.',
  },
  'authoring.bundle.root': { source: `${AUTHORING}, "Bundle document"`, says: 'A Bundle names its root agent.' },
  'authoring.boundaries': {
    source: `${AUTHORING}, "What the service does", 3`,
    says: 'Publishing compiles symbolic authority boundaries into policies that the runtime evaluates.',
  },
  'authoring.limits': {
    source: `${AUTHORING}, "Limits"`,
    says: "A run is bounded by its agent's limits, and on_limit says what happens then.",
  },
  'authoring.limits.depth': {
    source: `${AUTHORING}, "Limits"`,
    says: 'max_subagent_depth is at least 1, and 5 by default.',
  },
} as const satisfies Record<string, Requirement>

export type RequirementId = keyof typeof requirements
