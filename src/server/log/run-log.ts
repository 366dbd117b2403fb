/** Logs runs: start, end, waiting and failures. Successful steps are only in the timeline. */
import type { LogLevel, Log } from '../../base/log.ts'
import type { Store } from '../../store/store.ts'
import type { SessionUpdate, SessionUpdateEvent } from '../../store/session-update.ts'

/** A store that logs every update after it was saved. */
export const withRunLog = (store: Store, log: Log): Store => ({
  ...store,
  async start(update, ...more) {
    const started = await store.start(update, ...more)
    if (started.outcome === 'started') logUpdate(update, log)
    return started
  },
  async save(update, ...more) {
    const lease = await store.save(update, ...more)
    logUpdate(update, log)
    return lease
  },
})

function logUpdate({ session, runs, tasks, steps, closedSteps, events }: SessionUpdate, log: Log): void {
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
