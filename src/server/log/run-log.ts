/** What runs do, as lines of the log: their beginning and end, what they wait for, and what failed. Steps that went well are the timeline's. */
import type { LogLevel, Log } from '../../base/log.ts'
import type { Store, SessionUpdate, TurnEvent } from '../../store/store.ts'

/** A store that tells the log of every move, once it is kept. */
export const withRunLog = (store: Store, log: Log): Store => ({
  ...store,
  async start(turn, limits, idempotency) {
    const started = await store.start(turn, limits, idempotency)
    if (started.outcome === 'started') tell(turn, log)
    return started
  },
  async save(turn) {
    await store.save(turn)
    tell(turn, log)
  },
})

function tell({ session, runs, tasks, steps, closedSteps, events }: SessionUpdate, log: Log): void {
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

function levelOf({ kind, subject }: TurnEvent): LogLevel | undefined {
  if (subject.endsWith('.failed')) return 'warn'
  // The session says nothing that its root run does not.
  return kind === 'run' || kind === 'user_task' || kind === 'aitl' ? 'info' : undefined
}
