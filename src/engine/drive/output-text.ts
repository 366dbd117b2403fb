/** The text of a root run's answer, for readers from whom the timeline is hidden. Source: docs/design/http.md#timeline-redaction */
import type { Instant } from '../../base/clock.ts'
import type { Run } from '../../spec/run/run.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { SessionUpdate } from '../../store/session-update.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { SessionNotifier } from './notifier.ts'

/** True where all text of the model is the answer: of a root run that answers in text and has nothing to call. */
export const isAllAnswer = ({ parentRunId }: Run, { output, tools, agents }: AgentSnapshot): boolean =>
  parentRunId === null && output.format === 'text' && tools.length === 0 && agents.length === 0

/**
 * Publishes the answer of a run that could have called something, once it is known to be the answer: when its end is stored, and
 * before readers are told of the end.
 */
export function publishOutput(notifier: SessionNotifier, live: LiveSession, update: SessionUpdate, now: Instant): void {
  const root = update.runs.find(({ id }) => id === update.session.rootRunId)
  if (root?.state.at !== 'done' || root.state.outcome !== 'completed' || typeof root.output !== 'string') return
  const { snapshot } = live.versions.of(root)
  if (snapshot.output.format !== 'text' || isAllAnswer(root, snapshot)) return
  const { id: runId, sessionId, output: text } = root
  const data = { sessionId, runId, text }
  notifier.publishDelta(
    { sessionId, runId, ts: now, kind: 'run', subject: 'engine.run.output', data },
    live.tree.session.lastSeq,
  )
}
