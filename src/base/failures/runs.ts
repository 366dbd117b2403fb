/** Refusals about runs, sessions and versions. */
import { EXIT, type FailureRow } from './failure-row.ts'

export const runFailures = {
  no_deployed_version: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string }) => `No version of ${a.agent} is deployed.`,
    fix: 'svc deploy NAMESPACE.NAME@VERSION',
  },
  deployment_expired: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string; version: string; at: string }) =>
      `The deployment of ${a.agent}@${a.version} ended at ${a.at}: no run starts on it any more.`,
    fix: 'Deploy another version, or the same one for longer: svc deploy NAMESPACE.NAME@VERSION --expires 90d',
  },
  agent_external: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string }) =>
      `${a.agent} stands for a client (provider: external): only the calls of that client run it, so it is not started and takes no messages.`,
    fix: 'Give it a model of its own to start it.',
  },
  agent_not_external: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string }) => `${a.agent} has a model of its own, so its tools are not offered to clients.`,
    fix: 'Offer those of an agent whose model has provider: external.',
  },
  unknown_tool: {
    status: 404,
    exit: EXIT.absent,
    message: (a: { agent: string; tool: string }) => `${a.agent} offers no tool ${a.tool}.`,
    fix: 'List its tools again.',
  },
  call_id_reused: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { callId: string }) => `The call id ${a.callId} was used for another call of this conversation.`,
    fix: 'Give each call an id of its own.',
  },
  conversation_ended: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { conversation: string; why: string }) =>
      `The conversation ${a.conversation} has ended, and no more calls are made in it: ${a.why}`,
    fix: 'Begin another conversation, or let an operator resume its run (svc runs resume).',
  },
  conversation_held: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { conversation: string }) =>
      `The call was not made: a limit of the conversation ${a.conversation} is reached, and an operator decides whether it goes on.`,
    fix: 'Call again once that is decided (svc inbox).',
  },
  calls_under_way: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { open: number; most: number }) =>
      `The call was not made: ${a.open} calls of this conversation are under way (at most ${a.most}), or have reached a limit of their agent.`,
    fix: 'Call again once they have an outcome.',
  },
  agent_paused: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { agent: string; paused: string }) => `No run of ${a.agent} is started: ${a.paused} is paused.`,
    fix: 'svc stop --list shows by whom and why; svc doctor names the command that ends it.',
  },
  stale_view: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The task has changed since it was shown.',
    fix: 'Read the task again, then decide.',
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
    fix: 'While an effect is in flight: svc agents pause AGENT@VERSION, then move the run. For an ended run: svc runs fork RUN --at STEP --version VERSION.',
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
      `The server ended while run ${a.runId} was being undone; what was stored continues.`,
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
    message: () => 'The content of this session was erased; it can be neither continued nor changed.',
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
  version_looser: {
    status: 403,
    exit: EXIT.denied,
    message: (a: { id: string; version: string; deployed: string }) =>
      `A key runs ${a.id}@${a.deployed}, which is deployed, or a version that is proven to allow no more; ${a.id}@${a.version} is not.`,
    fix: 'Leave versionId out, to run the deployed version. An operator may run the other one, svc run AGENT@VERSION, or let the keys of a trigger: svc triggers update TRIGGER --allow-older-versions.',
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
  trigger_held: {
    status: 503,
    exit: EXIT.unavailable,
    message: () => 'This trigger came from a backup and starts no runs until an operator releases it.',
    fix: 'svc restore --resume releases it; svc restore --plan lists what may repeat.',
  },
} satisfies Record<string, FailureRow>
