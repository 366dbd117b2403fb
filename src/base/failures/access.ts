/** Refusals of requests: who may call, with what, from where, and how much. */
import { EXIT, type FailureRow } from './failure-row.ts'

export const accessFailures = {
  invalid_json: {
    status: 400,
    exit: EXIT.usage,
    message: (a: { why: string }) => `The body is not valid JSON: ${a.why}.`,
  },
  validation_failed: { status: 400, exit: EXIT.usage, message: (a: { what: string }) => a.what },
  missing_api_key: {
    status: 401,
    exit: EXIT.denied,
    message: () => 'The request has no X-API-Key header.',
    fix: 'Send the key as X-API-Key; `svc keys create` makes one.',
  },
  invalid_api_key: {
    status: 401,
    exit: EXIT.denied,
    message: () => 'The API key is not valid.',
    fix: 'Use a key that is neither revoked nor expired.',
  },
  not_signed_by_slack: {
    status: 401,
    exit: EXIT.denied,
    message: () => 'Slack did not sign this request, or not within the last five minutes.',
    fix: 'Set the signing secret of the app (Basic Information) in the variable of signing_secret, and the clock of the server.',
  },
  invalid_operator_key: {
    status: 401,
    exit: EXIT.denied,
    message: () => 'The operator credential is not valid.',
    fix: 'Use one that is neither revoked nor expired; `svc keys create --operator --email EMAIL` makes one.',
  },
  not_signed_in: {
    status: 401,
    exit: EXIT.denied,
    message: () => 'Nobody is signed in here.',
    fix: 'Open the address that `svc console` prints, or send an operator credential as X-Operator-Key.',
  },
  passkey_refused: {
    status: 403,
    exit: EXIT.denied,
    message: (a: { why: string }) => `The passkey does not count: ${a.why}.`,
    fix: 'Try again in the console. Passkeys are listed at Admin, Passkeys.',
  },
  sign_in_refused: {
    status: 401,
    exit: EXIT.denied,
    message: (a: { why: string }) => `Not signed in: ${a.why}.`,
    fix: 'Begin again: at the console, or with the address that svc console prints.',
  },
  not_let_in: {
    status: 403,
    exit: EXIT.denied,
    message: (a: { why: string }) => `Not signed in: ${a.why}.`,
    fix: 'Whoever keeps the groups at the provider, and sign_in of the configuration, can let you in.',
  },
  not_permitted: {
    status: 403,
    exit: EXIT.denied,
    message: (a: { why: string }) => a.why,
    fix: 'Other groups at the provider count from the next sign-in on.',
  },
  identity_provider_away: {
    status: 503,
    exit: EXIT.unavailable,
    message: (a: { name: string; why: string }) => `${a.name} cannot be asked who you are: ${a.why}.`,
    fix: 'Try again; until then a credential of yours signs in, and sessions that exist go on.',
  },
  sign_in_off: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'No identity provider is configured here.',
    fix: 'Name one in sign_in of svc.config.yaml, or sign in with a credential.',
  },
  agent_out_of_scope: { status: 403, exit: EXIT.denied, message: () => 'The API key is scoped to another agent.' },
  run_out_of_scope: {
    status: 403,
    exit: EXIT.denied,
    message: () => 'The API key is scoped to another agent or trigger than this run.',
  },
  undo_out_of_scope: {
    status: 403,
    exit: EXIT.denied,
    message: (a: { runId: string; undone: string }) =>
      `Run ${a.runId} undoes a call of run ${a.undone} for an operator: no API key cancels it.`,
    fix: 'An operator can: svc runs cancel RUN',
  },
  delete_not_allowed: {
    status: 403,
    exit: EXIT.denied,
    message: () => 'The trigger of this API key does not allow sessions to be deleted.',
    fix: 'svc triggers update TRIGGER --allow-delete',
  },
  approval_not_allowed: {
    status: 403,
    exit: EXIT.denied,
    message: () =>
      'This API key may not answer approvals: its trigger starts the runs, and who starts does not approve. An operator can, with svc inbox or in the console.',
    fix: 'svc triggers update TRIGGER --allow-approvals',
  },
  uploads_not_allowed: {
    status: 403,
    exit: EXIT.denied,
    message: () => 'This API key may not upload files.',
    fix: 'svc keys create --agent … --trigger … --allow-uploads',
  },
  ip_not_allowed: {
    status: 403,
    exit: EXIT.denied,
    message: () => 'The trigger does not allow requests from this address.',
  },
  host_not_allowed: {
    status: 403,
    exit: EXIT.denied,
    message: () => 'The Host header names no host of this server.',
    fix: 'Let the proxy pass the Host header on, and name the host in network.hosts of svc.config.yaml.',
  },
  origin_not_allowed: { status: 403, exit: EXIT.denied, message: () => 'Requests from this origin are not allowed.' },
  console_header_missing: {
    status: 403,
    exit: EXIT.denied,
    message: () =>
      'A request that changes something must come from the console itself, with x-svc-console and its Origin.',
    fix: 'Send x-svc-console: 1 and the Origin of the console, or an operator credential as X-Operator-Key.',
  },
  tls_required: {
    status: 403,
    exit: EXIT.denied,
    message: () => 'The console is reached over HTTPS here, through a proxy of network.proxies.',
    fix: 'Open its https address; the proxy sets X-Forwarded-Proto.',
  },
  console_off: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'No console is open here.',
    fix: 'Start svc dev, or svc serve --console.',
  },
  trigger_inactive: { status: 403, exit: EXIT.denied, message: () => 'The API trigger of this key is not active.' },
  plan_limit_exceeded: {
    status: 403,
    exit: EXIT.limit,
    message: (a: { limit: string; value: number | string }) => `The workspace's plan allows ${a.value} (${a.limit}).`,
  },
  storage_limit_exceeded: {
    status: 403,
    exit: EXIT.limit,
    message: (a: { limit: number }) => `The workspace's file storage of ${a.limit} bytes would be exceeded.`,
  },
  not_found: { status: 404, exit: EXIT.absent, message: (a: { what: string }) => `No such ${a.what}.` },
  method_not_allowed: {
    status: 405,
    exit: EXIT.usage,
    message: (a: { method: string; allow: readonly string[] }) =>
      `${a.method} is not offered here; ${a.allow.join(' and ')} ${a.allow.length === 1 ? 'is' : 'are'}.`,
  },
  not_uploaded: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'Nothing was uploaded to this object key.',
    fix: 'PUT the bytes to the uploadUrl first.',
  },
  body_too_large: {
    status: 413,
    exit: EXIT.usage,
    message: (a: { limit: number }) => `The body is larger than ${a.limit} bytes.`,
  },
  file_too_large: {
    status: 413,
    exit: EXIT.usage,
    message: (a: { limit: number }) => `Files may have at most ${a.limit} bytes.`,
  },
  unsupported_media_type: {
    status: 415,
    exit: EXIT.usage,
    message: () => 'The body must be sent as Content-Type: application/json.',
  },
  input_contract_violation: {
    status: 422,
    exit: EXIT.usage,
    message: (a: { agent: string }) => `The input does not match the input contract of ${a.agent}.`,
    fix: 'svc agents show AGENT shows the contract.',
  },
  file_not_found: {
    status: 422,
    exit: EXIT.usage,
    message: (a: { filename: string }) => `No finalized file of the workspace is named ${a.filename}.`,
  },
  size_mismatch: {
    status: 422,
    exit: EXIT.usage,
    message: (a: { size: number; limit: number }) =>
      `The upload has ${a.size} bytes, more than its maxContentLength of ${a.limit}; it was deleted.`,
  },
  rate_limited: {
    status: 429,
    exit: EXIT.limit,
    message: (a: { limit: string }) => `Too many starts: the trigger allows ${a.limit}.`,
  },
  concurrency_limited: {
    status: 429,
    exit: EXIT.limit,
    message: (a: { limit: number }) => `The trigger allows ${a.limit} runs at once.`,
  },
  internal: { status: 500, exit: 70, message: () => 'Something went wrong on our side.' },
  shutting_down: { status: 503, exit: EXIT.unavailable, message: () => 'The server is shutting down.' },
  storage_full: {
    status: 503,
    exit: EXIT.unavailable,
    message: () => 'The server has no disk space left to store this.',
    fix: 'Free disk space for its data directory (svc doctor disk); it then accepts work by itself.',
  },
} satisfies Record<string, FailureRow>
