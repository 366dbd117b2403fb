/** Logs runs: start, end, waiting and failures. Successful steps are only in the timeline. */
import type { LogLevel, Log } from '../../base/log.ts'
import { traceOfRun } from '../../spec/run/run-trace.ts'
import type { Store } from '../../store/store.ts'
import type { SessionUpdate, SessionUpdateEvent } from '../../store/session-update.ts'

interface RunLogOptions {
  /** Lines name the trace of their run. */
  readonly withTraces?: boolean
}

/** A store that logs every update after it was saved. */
export const withRunLog = (store: Store, log: Log, options: RunLogOptions = {}): Store => ({
  ...store,
  async start(update, ...more) {
    const started = await store.start(update, ...more)
    if (started.outcome === 'started') logUpdate(update, log, options)
    return started
  },
  async save(update, ...more) {
    const lease = await store.save(update, ...more)
    logUpdate(update, log, options)
    return lease
  },
})

function logUpdate(
  { session, runs, tasks, steps, closedSteps, events }: SessionUpdate,
  log: Log,
  { withTraces = false }: RunLogOptions,
): void {
  for (const event of events) {
    const level = levelOf(event)
    if (!level) continue
    const { runId, sessionId, subject, kind } = event
    const run = runs.find(({ id }) => id === runId)
    const task = kind === 'user_task' ? tasks.find(({ runId: of }) => of === runId) : undefined
    const failed = kind === 'step' ? [...steps, ...closedSteps].find(({ error }) => error !== null) : run
    const error = failed?.error ?? undefined
    log.write(level, subject, {
      runId,
      sessionId,
      ...(withTraces && run && { traceId: traceOfRun(run).traceId }),
      agent: `${run?.agentName ?? session.agentName}@${run?.versionLabel ?? session.versionLabel}`,
      ...(task && { task: task.id, kind: task.kind, ...(task.tool && { tool: task.tool.ref }) }),
      ...(level === 'warn' && error !== undefined && { error }),
    })
  }
}

function levelOf({ kind, subject }: SessionUpdateEvent): LogLevel | undefined {
  if (subject.endsWith('.failed')) return 'warn'
  // Events of the session repeat those of its root run.
  return kind === 'run' || kind === 'user_task' || kind === 'aitl' ? 'info' : undefined
}
