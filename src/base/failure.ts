/**
 * The table of failures that callers expect, one entry per code: HTTP status, exit code of the command line, the sentence,
 * the remedy. The server's answers, the CLI's error messages and the reference page come from here.
 */
interface FailureRow {
  /** HTTP status; absent where the failure never crosses HTTP. */
  readonly status?: number
  /** Exit code of the command line (`svc help exit-codes`). */
  readonly exit: number
  message(about: never): string
  readonly fix?: string
}

const EXIT = { bad: 1, usage: 2, denied: 4, absent: 5, conflict: 6, limit: 7, unavailable: 8, timeout: 9 } as const

export const failures = {
  // Requests
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
  sign_in_refused: {
    status: 401,
    exit: EXIT.denied,
    message: (a: { why: string }) => `Not signed in: ${a.why}.`,
    fix: 'svc console prints a new address.',
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
  host_not_allowed: { status: 403, exit: EXIT.denied, message: () => 'The Host header names no host of this server.' },
  origin_not_allowed: { status: 403, exit: EXIT.denied, message: () => 'Requests from this origin are not allowed.' },
  console_header_missing: {
    status: 403,
    exit: EXIT.denied,
    message: () => 'A request that changes something comes from the console itself: x-svc-console and Origin say so.',
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
  no_deployed_version: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string }) => `No version of ${a.agent} is deployed.`,
    fix: 'svc deploy NAMESPACE.NAME@VERSION',
  },
  agent_paused: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string; paused: string }) =>
      `No run of ${a.agent} is started: an operator has paused ${a.paused}.`,
    fix: 'svc stop --list shows who and why; svc agents resume or svc stop --resume ends it.',
  },
  stale_view: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The task is not what was shown any more.',
    fix: 'Look at it again and decide about what it says now.',
  },
  idempotency_key_reused: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'This Idempotency-Key was used with another body.',
  },
  session_not_ended: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { status: string }) => `A run of the session has not ended; its status is ${a.status}.`,
    fix: 'Wait until it ends, or cancel it.',
  },
  run_not_ended: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; status: string }) => `Run ${a.runId} has not ended; its status is ${a.status}.`,
    fix: 'Wait until it ends, answer what it waits for (svc inbox), or cancel it.',
  },
  run_completed: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string }) => `Run ${a.runId} is completed, so there is nothing to resume.`,
    fix: 'Start it again with svc runs retry.',
  },
  not_a_root_run: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; rootRunId: string }) =>
      `Run ${a.runId} is that of a sub-agent of run ${a.rootRunId}.`,
    fix: 'Name the root run: its sub-agents go with it.',
  },
  session_went_on: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; newest: string }) =>
      `Run ${a.runId} was followed by run ${a.newest} of the same session.`,
    fix: 'Name the newest run of the session, or start this one again with svc runs retry.',
  },
  run_not_movable: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; why: string }) => `Run ${a.runId} cannot be moved to another version now: ${a.why}.`,
    fix: 'Where something is under way: svc agents pause AGENT@VERSION, and move it then. One that has ended: svc runs fork RUN --at STEP --version VERSION.',
  },
  run_not_resumable: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; why: string }) => `Run ${a.runId} cannot be resumed: ${a.why}.`,
    fix: 'Start it again with svc runs retry.',
  },
  run_not_repeatable: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; retry: string }) =>
      `Run ${a.runId} was started again as run ${a.retry}, which has not ended.`,
    fix: 'Wait until that run ends, or cancel it.',
  },
  step_not_found: {
    status: 404,
    exit: EXIT.absent,
    message: (a: { runId: string; step: number }) => `Run ${a.runId} has no step ${a.step}.`,
    fix: 'svc runs steps RUN lists the steps of the run; those of its sub-agents do not count.',
  },
  step_not_forkable: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { step: number; why: string }) => `A run cannot be forked at step ${a.step}: ${a.why}.`,
    fix: 'Name another step.',
  },
  step_not_editable: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { step: number; type: string }) =>
      `Step ${a.step} is a ${a.type}, of which nothing is edited this way.`,
    fix: 'Edit the text of a UserMessage or Reasoning step, or the result of a ToolResult or SubAgentResult step.',
  },
  limit_reached: {
    status: 409,
    exit: EXIT.limit,
    message: (a: { limit: string; value: number | string; used: number | string }) =>
      `The limit ${a.limit} of ${a.value} is reached: ${a.used} used. It would end the run again at once.`,
    fix: 'Grant it once more with --grant, or name a version that allows more with --with-version.',
  },
  version_wider: {
    status: 409,
    exit: EXIT.usage,
    message: (a: { version: string; from: string; changes: readonly string[] }) =>
      `Version ${a.version} may do more than ${a.from}${a.changes.length === 0 ? ', as far as is known here' : `: ${a.changes.join('; ')}`}.`,
    fix: 'Review the difference with svc bundle diff, then add --allow-widen.',
  },
  migration_widens: {
    status: 409,
    exit: EXIT.usage,
    message: (a: { version: string; from: string; changes: readonly string[] }) =>
      `A waiting run moves only to a version that may do no more. Version ${a.version} may do more than ${a.from}${a.changes.length === 0 ? ', as far as is known here' : `: ${a.changes.join('; ')}`}.`,
    fix: 'Move it to another version, or cancel it and start it again.',
  },
  run_undoes: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; undone: string }) =>
      `Run ${a.runId} undoes a call of run ${a.undone}; what it did is not undone again.`,
    fix: 'Name the run whose calls are to be undone.',
  },
  already_undone: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; by: string }) =>
      `What run ${a.runId} made, as far as it can be undone, is undone, by run ${a.by}; nothing has changed.`,
    fix: 'svc runs undo RUN --plan lists it, call by call.',
  },
  nothing_to_undo: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string }) => `Run ${a.runId} made nothing that can be undone now.`,
    fix: 'svc runs undo RUN --plan says why, call by call.',
  },
  undo_under_way: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; undone: string; status: string }) =>
      `Run ${a.runId} is undoing a call of run ${a.undone}; its status is ${a.status}.`,
    fix: 'Wait until it ends, or cancel it.',
  },
  undo_not_followed: {
    exit: EXIT.unavailable,
    message: (a: { runId: string }) =>
      `The server ended while run ${a.runId} was being undone; what was stored goes on.`,
    fix: 'Start the server, then svc runs undo RUN --plan says how far it came.',
  },
  call_not_undoable: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; callId: string; why: string }) =>
      `Call ${a.callId} of run ${a.runId} cannot be undone: ${a.why}.`,
    fix: 'svc runs undo RUN --plan says what can be.',
  },
  version_gone: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { runId: string; version: string }) => `Version ${a.version}, which run ${a.runId} executed, is gone.`,
    fix: 'Name another version.',
  },
  session_erased: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The content of this session was erased; it can neither go on nor be changed.',
    fix: 'Start a new session.',
  },
  session_limit_reached: {
    status: 409,
    exit: EXIT.limit,
    message: (a: { limit: string; value: number }) => `The session has reached ${a.limit} of ${a.value}.`,
    fix: 'Start a new session.',
  },
  session_on_hold: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'A legal hold keeps this session; it cannot be erased.',
    fix: 'svc sessions set SESSION --no-legal-hold',
  },
  version_not_deployable: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { id: string; version: string }) =>
      `${a.id}@${a.version} was never deployed, or is yanked, so no key may run it.`,
    fix: 'Leave versionId out, to run the deployed version.',
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
  provider_not_configured: {
    status: 422,
    exit: EXIT.usage,
    message: (a: { provider: string; agent: string }) =>
      `${a.agent} uses the model provider "${a.provider}", which this server does not know.`,
    fix: 'Map the name under `providers:` in svc.config.yaml.',
  },
  price_unknown: {
    status: 422,
    exit: EXIT.usage,
    message: (a: { what: string }) => a.what,
    fix: 'Add the price under `prices:` in svc.config.yaml, or remove `svc/max-cost-per-run`.',
  },
  secret_not_set: {
    status: 422,
    exit: EXIT.usage,
    message: (a: { secret: string; env: string }) =>
      `The secret "${a.secret}" is not set: the environment variable ${a.env} is missing or empty.`,
    fix: 'Set the variable where the server runs; `svc secrets check` lists them all.',
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
    message: () => 'The server has no room left to store this.',
    fix: 'Free disk space for its data directory (svc doctor disk); it then accepts work by itself.',
  },
  trigger_held: {
    status: 503,
    exit: EXIT.unavailable,
    message: () => 'This trigger came from a backup and starts no runs until an operator releases it.',
    fix: 'svc restore --resume releases it; svc restore --plan lists what may repeat.',
  },

  // Answers to a run that are refused: they travel as `error` and `code` of a 202 body.
  task_not_found: { exit: EXIT.absent, message: () => 'The run has no such user task.' },
  task_already_completed: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The user task is no longer pending.',
  },
  operator_only: { exit: EXIT.denied, message: () => 'Only an operator can complete this user task.' },
  invalid_value: { exit: EXIT.conflict, message: (a: { what: string }) => a.what },
  acknowledgement_required: {
    exit: EXIT.conflict,
    message: () => 'This approval needs metadata["svc/acknowledged"]: true.',
  },
  run_not_waiting: {
    exit: EXIT.conflict,
    message: (a: { status: string }) => `The run does not wait for a reply; its status is ${a.status}.`,
    fix: 'svc send RUN TEXT --steer reaches a run that works; svc inbox shows tasks that wait for an answer.',
  },
  run_not_working: {
    exit: EXIT.conflict,
    message: (a: { status: string }) => `The run does not work now; its status is ${a.status}.`,
    fix: 'Answer what it waits for, or start a run.',
  },
  steering_full: {
    exit: EXIT.conflict,
    message: (a: { most: number }) => `${a.most} messages wait for the run's next completion already.`,
    fix: 'Send it after that completion.',
  },
  signal_not_awaited: {
    exit: EXIT.conflict,
    message: (a: { name: string }) => `The run does not wait for the signal ${a.name}; nothing has changed.`,
    fix: 'svc runs conversation RUN shows what it waits for, and by which name.',
  },
  completion_not_found: {
    status: 404,
    exit: EXIT.absent,
    message: () => 'No call waits for this token.',
  },
  completion_used: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The call of this token has ended with another report; nothing has changed.',
  },
  arguments_changed: {
    exit: EXIT.conflict,
    message: () => 'The arguments are not the ones that were reviewed.',
    fix: 'Look at the task again, then answer.',
  },
  digest_required: {
    exit: EXIT.conflict,
    message: () =>
      'This approval needs metadata["svc/arguments_digest"]: the arguments were edited, or several people approve them.',
    fix: 'Look at the task again, then send the digest of the arguments that it shows.',
  },
  not_in_bulk: {
    exit: EXIT.conflict,
    message: (a: { why: string }) => `This task is not approved together with others: ${a.why}.`,
    fix: 'Decide it alone: svc approve TASK, or its card.',
  },
  not_an_approver: {
    exit: EXIT.denied,
    message: (a: { why: string }) => `This approver may not decide this task: ${a.why}.`,
  },

  // Store and engine
  run_moved_on: {
    exit: EXIT.conflict,
    message: (a: { sessionId: string; seen: number }) =>
      `Session ${a.sessionId} has changed since version ${a.seen} was read.`,
  },
  lease_lost: {
    exit: EXIT.conflict,
    message: (a: { sessionId: string }) => `Another process holds session ${a.sessionId}.`,
  },
  effect_taken: {
    exit: EXIT.conflict,
    message: (a: { key: string }) => `Another call holds the effect key ${a.key}.`,
  },
  history_moved_on: {
    exit: EXIT.conflict,
    message: () => 'Calls of the workspace were decided since they were counted.',
  },
  plan_spent: {
    exit: EXIT.limit,
    message: (a: { limit: string }) => `The workspace has used up ${a.limit} of its plan.`,
  },
  plan_reserved: {
    exit: EXIT.limit,
    message: (a: { limit: string }) => `Completions in flight may use up ${a.limit} of the workspace's plan.`,
  },
  effect_not_held: {
    status: 404,
    exit: EXIT.absent,
    message: (a: { key: string }) => `No call holds the effect key ${a.key}.`,
    fix: '`svc effects list` shows the keys that are held.',
  },
  effect_in_flight: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { key: string; runId: string }) => `The call that holds ${a.key} is under way, in run ${a.runId}.`,
    fix: 'Wait for its outcome, or cancel the run and say in its review what happened.',
  },
  state_not_saved: {
    status: 500,
    exit: 70,
    message: (a: { why: string }) => `What happened cannot be stored: ${a.why}.`,
  },
  store_locked: {
    exit: EXIT.conflict,
    message: (a: { directory: string }) => `The data directory ${a.directory} is held by another process.`,
    fix: 'Stop the other server, or name another directory with --data.',
  },
  native_sqlite_missing: {
    exit: EXIT.usage,
    message: () =>
      'SQLite cannot be loaded: better-sqlite3 is not installed, has no native part, or was installed by another version of Node.',
    fix: 'npm install --include=optional',
  },
  store_unreadable: {
    exit: EXIT.conflict,
    message: (a: { file: string; why: string }) => `${a.file} cannot be used as a store: ${a.why}.`,
  },
  store_unreachable: {
    status: 503,
    exit: EXIT.unavailable,
    message: (a: { database: string; why: string }) => `The database ${a.database} cannot be used now: ${a.why}.`,
    fix: 'Check that PostgreSQL runs, and that address, user and password are right.',
  },
  store_busy: {
    status: 503,
    exit: EXIT.unavailable,
    message: (a: { database: string; why: string }) =>
      `The database ${a.database} has no room for more work now: ${a.why}.`,
    fix: 'Try again. Where it lasts, give PostgreSQL more connections (a server needs 14), or find what holds its locks.',
  },
  store_not_migrated: {
    exit: EXIT.conflict,
    message: (a: { database: string; found: number; newest: number }) =>
      `The database ${a.database} has ${a.found === 0 ? 'no tables of svc' : `schema ${a.found}`}, and this svc needs schema ${a.newest}.`,
    fix: 'Run svc store migrate.',
  },
  store_rights_missing: {
    exit: EXIT.denied,
    message: (a: { database: string; why: string }) => `The user of ${a.database} lacks a right: ${a.why}.`,
    fix: 'Let the user create schemas in the database: grant create on database NAME to USER.',
  },
  store_absent: {
    exit: EXIT.absent,
    message: (a: { store: string }) => `There is no store in ${a.store}.`,
    fix: 'Check the path: sqlite:DIRECTORY names a data directory.',
  },
  store_not_empty: {
    exit: EXIT.conflict,
    message: (a: { store: string; table: string }) =>
      `${a.store} has rows already (in ${a.table}), and a copy takes an empty store.`,
    fix: 'Name a new database, or another data directory.',
  },
  store_served: {
    exit: EXIT.conflict,
    message: (a: { store: string; worker: string }) => `${a.store} is served by ${a.worker}.`,
    fix: 'Stop every server of it first; svc workers list shows them. One that was killed counts for 15 s.',
  },
  store_moved: {
    exit: EXIT.conflict,
    message: (a: { store: string; to: string }) =>
      `${a.store} was copied to ${a.to}: if both went on, everything would be done twice.`,
    fix: 'Serve the copy. Where that was thrown away: svc store copy --reopen.',
  },
  store_copy_differs: {
    exit: EXIT.bad,
    message: (a: { store: string; table: string }) =>
      `The rows of ${a.table} in ${a.store} are not those of the original; nothing was kept of the copy.`,
    fix: 'Report it, with both versions of svc.',
  },
  store_copy_unknown: {
    exit: EXIT.unavailable,
    message: (a: { store: string; to: string }) =>
      `The connection broke while the copy in ${a.to} was committed: it is complete, or nothing of it is there; ${a.store} stays closed.`,
    fix: 'Look with svc runs list there. Where it has your runs, serve it; else svc store copy --reopen, and copy again.',
  },
  backup_elsewhere: {
    status: 409,
    exit: EXIT.usage,
    message: (a: { database: string }) => `svc does not back up the database ${a.database} itself.`,
    fix: 'Back it up with the means of PostgreSQL, such as pg_dump, and the bucket with those of your storage.',
  },
  store_of_another: {
    exit: EXIT.conflict,
    message: (a: { database: string; what: 'workspace' | 'bucket'; theirs: string; ours: string }) =>
      `The database ${a.database} belongs to the ${a.what} ${a.theirs}, and this is ${a.ours}: two clusters on one database would run each other's agents.`,
    fix: 'Give each cluster a database of its own. Where it is the same one, and its bucket was moved: svc store migrate --claim.',
  },
  bucket_not_named: {
    status: 409,
    exit: EXIT.usage,
    message: () => 'Servers that share a database need a bucket for files, and storage.url names none.',
    fix: 'Give storage.url in svc.config.yaml. svc serve takes --storage, and other commands go through the server that holds --data.',
  },
  bucket_unusable: {
    exit: EXIT.unavailable,
    message: (a: { bucket: string; why: string }) => `The bucket ${a.bucket} cannot be used: ${a.why}.`,
    fix: 'Check endpoint, bucket, region and credentials of the storage, and the rights to put, get and delete objects there.',
  },
  clock_off: {
    exit: EXIT.unavailable,
    message: (a: { database: string; seconds: number }) =>
      `The clocks of this machine and of the database ${a.database} differ by ${String(a.seconds).replace('-', '')} s.`,
    fix: 'Synchronize both clocks, for example with chrony.',
  },
  job_runner_missing: {
    exit: EXIT.usage,
    message: () => 'Background jobs cannot run on PostgreSQL: the package graphile-worker is not installed.',
    fix: 'npm install graphile-worker@0.17.3',
  },
  postgres_client_missing: {
    exit: EXIT.usage,
    message: () => 'PostgreSQL cannot be used: its client, the package pg, is not installed.',
    fix: 'npm install pg@8.23.1',
  },

  backup_broken: {
    exit: EXIT.unavailable,
    message: () => 'The server ended before the backup was whole; what arrived cannot be restored.',
    fix: 'svc backup again, once the server runs.',
  },
  backup_invalid: { exit: EXIT.bad, message: (a: { why: string }) => `This backup cannot be restored: ${a.why}.` },

  // Authoring and shipping
  documents_have_errors: {
    status: 422,
    exit: EXIT.bad,
    message: (a: { errors: number; files: number }) =>
      `${a.errors} ${a.errors === 1 ? 'error' : 'errors'} in ${a.files} ${a.files === 1 ? 'file' : 'files'}.`,
  },
  file_unreadable: {
    exit: EXIT.bad,
    message: (a: { path: string; why: string }) => `${a.path} cannot be read: ${a.why}.`,
  },
  no_documents: {
    exit: EXIT.absent,
    message: (a: { where: string; why?: string }) =>
      `No svc document was found in ${a.where}${a.why === undefined ? '' : `: ${a.why}`}.`,
    fix: 'svc init writes a first project.',
  },
  version_exists: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { id: string; version: string; differs: string; others: number }) =>
      `${a.id}@${a.version} is published with other content (${a.differs})${a.others === 0 ? '' : a.others === 1 ? ', and so is one more member' : `, and so are ${a.others} more members`}.`,
    fix: 'Raise metadata.version, or publish with --bump; published versions never change.',
  },
  bundle_invalid: { exit: EXIT.bad, message: (a: { what: string }) => a.what },
  authority_widened: {
    exit: EXIT.usage,
    message: (a: { changes: number }) =>
      `${a.changes === 1 ? 'One change widens' : `${a.changes} changes widen`} what the agent may do, and nobody can be asked here.`,
    fix: 'Review them with svc publish --plan, then add --allow-widen.',
  },
  version_yanked: {
    status: 409,
    exit: EXIT.usage,
    message: (a: { id: string; version: string; reason?: string | undefined; act?: 'deployed' | 'executed' }) =>
      `${a.id}@${a.version} is yanked${a.reason === undefined ? '' : ` (${a.reason})`}, so it is not ${a.act ?? 'deployed'} unasked.`,
    fix: 'Name another version, or add --allow-yanked where the command takes it.',
  },
  version_too_small: {
    exit: EXIT.bad,
    message: (a: { id: string; version: string; latest: string; required: string; least: string }) =>
      `${a.id}@${a.version} is too small a step from ${a.latest}: what changed is ${a.required}, so it is at least ${a.least}.`,
    fix: 'Raise metadata.version, or publish with --bump and that step.',
  },
  'compile/drift': {
    exit: EXIT.bad,
    message: (a: { what: string }) => a.what,
    fix: 'svc compile, and commit svc.lock.',
  },

  // Files and directories that the user named
  file_missing: {
    exit: EXIT.absent,
    message: (a: { path: string; doing: string }) =>
      `${a.path} cannot be ${a.doing}: there is no such file or directory.`,
    fix: 'Check the path.',
  },
  file_unusable: {
    exit: EXIT.usage,
    message: (a: { path: string; doing: string; why: string }) => `${a.path} cannot be ${a.doing}: ${a.why}.`,
    fix: 'Choose another path, or mend its permissions.',
  },
  data_directory_unusable: {
    exit: EXIT.usage,
    message: (a: { directory: string; why: string }) => `${a.directory} cannot be used as a data directory: ${a.why}.`,
    fix: 'Name another directory with --data.',
  },
  data_directory_full: {
    exit: EXIT.usage,
    message: (a: { directory: string; why: string }) => `There is no room for data in ${a.directory}: ${a.why}.`,
    fix: 'Free disk space there, or name another directory with --data.',
  },

  // Command line
  usage: { exit: EXIT.usage, message: (a: { what: string }) => a.what },
  config_invalid: { exit: EXIT.usage, message: (a: { what: string }) => a.what },
  no_project: {
    exit: EXIT.usage,
    message: (a: { directory: string }) =>
      `There is no svc.config.yaml in ${a.directory} or above, and no data directory was named.`,
    fix: 'svc init writes a project; --data DIR names a data directory.',
  },
  needs_terminal: { exit: EXIT.usage, message: (a: { what: string }) => a.what },
  directory_not_empty: {
    exit: EXIT.conflict,
    message: (a: { directory: string }) => `${a.directory} is not empty.`,
    fix: 'Choose another directory, or --force.',
  },
  port_taken: {
    exit: EXIT.conflict,
    message: (a: { host: string; port: number; why: string }) => `Cannot listen on ${a.host}:${a.port}: ${a.why}.`,
    fix: 'Choose another with --port.',
  },
  no_server: {
    exit: EXIT.unavailable,
    message: (a: { url: string }) => `No server answers at ${a.url}.`,
    fix: 'svc dev starts one.',
  },
  ambiguous_reference: {
    exit: EXIT.usage,
    message: (a: { text: string; candidates: string }) => `"${a.text}" could be ${a.candidates}.`,
  },
  timed_out: { exit: EXIT.timeout, message: (a: { after: string }) => `Gave up after ${a.after}; the work goes on.` },
} satisfies Record<string, FailureRow>

export type FailureCode = keyof typeof failures
type FailureDetails<C extends FailureCode> = Parameters<(typeof failures)[C]['message']>[0]

/** One place of a bad request: a JSON pointer into it and what is wrong there. */
export interface InvalidPlace {
  readonly path: string
  readonly message: string
}

export interface FailureExtras {
  readonly details?: readonly InvalidPlace[]
  readonly retryAfterSeconds?: number
  /** Further response headers, for example `Allow`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Another remedy than the table's. */
  readonly fix?: string | undefined
  readonly cause?: unknown
}

/** A failure its caller expects; everything else that is thrown is a bug. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly extras: FailureExtras
  constructor(code: FailureCode, message: string, extras: FailureExtras) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.code = code
    this.extras = extras
  }
  get status(): number {
    return (failures[this.code] as FailureRow).status ?? 500
  }
  get exit(): number {
    return failures[this.code].exit
  }
  get fix(): string | undefined {
    return this.extras.fix ?? (failures[this.code] as FailureRow).fix
  }
}

/** `throw fail('not_found', { what: 'run' })`: a misspelt code or detail does not compile. */
export function fail<C extends FailureCode>(
  code: C,
  ...[about, extras]: FailureDetails<C> extends undefined
    ? [about?: undefined, extras?: FailureExtras]
    : [about: FailureDetails<C>, extras?: FailureExtras]
): Failure {
  const message = failures[code].message as (about: unknown) => string
  return new Failure(code, message(about), extras ?? {})
}

export const isFailure = (error: unknown, code?: FailureCode): error is Failure =>
  error instanceof Failure && (code === undefined || error.code === code)
