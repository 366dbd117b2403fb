/**
 * Output-only mode: redacts conversation and stream while the trigger does not expose its timeline. Redaction comes after
 * numbering, so gaps in `ordinal` and in event ids are intended.
 * Source: docs/design/http.md#timeline-redaction
 */
import type { JsonObject } from '../../base/json/json.ts'
import { toJson, fromJsonList } from '../../base/json/typed-json.ts'
import type { Conversation, PendingAnswer, SessionListItem } from '../../spec/api.ts'
import type { LiveText, OutputText, StoredEvent, TextDelta } from '../../spec/event.ts'
import { answerableWhileHidden } from '../../view/pending.ts'

/** The items that stay; of `RunCompleted` only the root's. */
export const COMPLETION_ROWS = ['RunCompleted', 'SessionCompleted'] as const

export function redactConversation(conversation: Conversation, isRootRun: (runId: string) => boolean): Conversation {
  const { runsLeftOut } = conversation
  return {
    session: { ...conversation.session, input: null, startContext: null },
    runs: conversation.runs.map((run) => ({ ...run, input: null, output: null, error: null })),
    ...(runsLeftOut !== undefined && { runsLeftOut }),
    items: conversation.items.filter(
      ({ type, runId }) => type === 'SessionCompleted' || (type === 'RunCompleted' && isRootRun(runId)),
    ),
  }
}

/** A session whose content the caller may not see: only that it ran and how it ended. Source: docs/design/http.md#scope */
export function withoutContent(item: SessionListItem): SessionListItem {
  const { title: _title, metadata: _metadata, tags: _tags, ...shown } = item
  return { ...shown, input: null, output: null, error: null, startContext: null }
}

const HIDDEN_KINDS: readonly string[] = ['step', 'user_task', 'aitl']
const HIDDEN_SUBJECTS: readonly string[] = ['engine.subagent.spawned', 'engine.subagent.completed']

/** The event as it may be sent; undefined if it must not be sent. */
export function redactEvent<E extends StoredEvent | LiveText>(event: E, rootRunId: string): E | OutputText | undefined {
  if (isTextDelta(event)) return event.isAnswer ? toOutputText(event) : undefined
  if (HIDDEN_KINDS.includes(event.kind) || HIDDEN_SUBJECTS.includes(event.subject)) return undefined
  const { output: _output, error: _error, ...others }: JsonObject = event.data
  const data = event.kind === 'session' || event.runId === rootRunId ? event.data : others
  // A stored list of `pendingOf`.
  const { pending: stored } = data
  const pending = Array.isArray(stored) ? fromJsonList<PendingAnswer>(stored, 'kind', 'runId') : undefined
  if (pending === undefined) return data === event.data ? event : { ...event, data }
  return { ...event, data: { ...data, pending: toJson(answerableWhileHidden(pending)) } }
}

const isTextDelta = (event: StoredEvent | LiveText): event is TextDelta => event.subject === 'engine.step.delta'

/** One object per piece of text for all readers, so that its frame is encoded once. */
const outputTexts = new WeakMap<TextDelta, OutputText>()

function toOutputText(delta: TextDelta): OutputText {
  const known = outputTexts.get(delta)
  if (known) return known
  const { sessionId, runId, ts, data } = delta
  const text: OutputText = { sessionId, runId, ts, kind: 'run', subject: 'engine.run.output', data }
  outputTexts.set(delta, text)
  return text
}

/**
 * The event for a reader of the whole timeline: omits answer text, which comes with its step, and events that erasure
 * emptied.
 */
export const wholeTimelineView = <E extends StoredEvent | LiveText>(event: E): E | undefined =>
  event.subject === 'engine.run.output' || isEmptied(event) ? undefined : event

const LIVE_STEP_SUBJECTS: readonly string[] = ['engine.step.delta', 'engine.step.progress']

/** Some events of an erased session have lost their step, task, question or sub-agent. */
function isEmptied({ kind, subject, data }: StoredEvent | LiveText): boolean {
  const told: Readonly<JsonObject> = data
  if (kind === 'step') return told['step'] === undefined && !LIVE_STEP_SUBJECTS.includes(subject)
  if (kind === 'user_task') return told['task'] === undefined
  if (kind === 'aitl') return told['requestId'] === undefined
  return told['childRunId'] === undefined && HIDDEN_SUBJECTS.includes(subject)
}

/** Ids that every step repeats; `stepContent=slim` leaves them out. */
const SLIM_KEYS = ['session_id', 'run_id', 'tenant_id', 'agent_id', 'agent_version_id', 'event_id']

/** `stepContent=slim`: removes the ids from contents that are objects. */
export const slimContent = (conversation: Conversation): Conversation => ({
  ...conversation,
  items: conversation.items.map((item) => {
    if (typeof item.content !== 'object' || item.content === null || Array.isArray(item.content)) return item
    return {
      ...item,
      content: Object.fromEntries(Object.entries(item.content).filter(([key]) => !SLIM_KEYS.includes(key))),
    }
  }),
})
