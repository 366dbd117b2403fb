/** Resolves what users type for a run, a task or an agent to its id. Source: command line, 1.6. */
import { fail } from '../../base/failure.ts'
import { isUuid } from '../../base/ids.ts'
import type { InboxItem } from '../../spec/operator/inbox.ts'
import type { AgentView } from '../../spec/operator/publication.ts'
import type { RunView } from '../../spec/operator/runs.ts'
import type { ShownTask } from '../../spec/task.ts'
import { describeSubject } from '../../spec/view/task-card.ts'
import { readInboxItem } from '../../spec/view/task-content.ts'
import { suggestWord } from '../shell/nearest.ts'
import type { OperatorClient } from './server/operator.ts'
import { usageFailure } from '../shell/usage-failure.ts'

/** Largest N of `@last-N`, plus one. */
const LOOK_BACK = 100

const ENDING = /^[0-9a-f-]{6,35}$/i

/**
 * A run's id from a UUID, a unique ending of six or more hexadecimal digits, `@last`, `@last-2` or `@waiting`.
 * @param operator absent where only /v1 is spoken: a full id is needed then
 */
export async function runIdOf(text: string, operator: OperatorClient | undefined): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  if (!operator) throw usageFailure(`With an API key a run is named by its full id, not by "${text}".`)
  const last = /^@last(?:-(\d{1,2}))?$/.exec(text)
  if (last) {
    const { items } = await operator.call('GET /runs', { query: { take: String(LOOK_BACK) } })
    const found = items.filter((each) => each.parentRunId === null)[Number(last[1] ?? 0)]
    if (!found) throw fail('not_found', { what: `run ${text}` })
    return found.runId
  }
  if (text === '@waiting') {
    const { items } = await operator.call('GET /runs', { query: { waiting: 'true' } })
    return onlyRun(
      text,
      items.filter((each) => each.parentRunId === null),
    )
  }
  if (!ENDING.test(text)) throw usageFailure(`"${text}" names no run.`, RUN_FORMS)
  return onlyRun(text, (await operator.call('GET /runs', { query: { ending: text.toLowerCase() } })).items)
}

/** The ids of all runs that are named, found before anything is done to one of them. */
export async function runIdsOf(texts: readonly string[], operator: OperatorClient): Promise<readonly string[]> {
  const ids: string[] = []
  for (const text of texts) ids.push(await runIdOf(text, operator))
  return ids
}

/** A session's id from a UUID, a unique ending, or what names the session of a run: `@last`, `@last-2`, `@waiting`. */
export async function sessionIdOf(text: string, operator: OperatorClient): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  if (text.startsWith('@')) {
    const { sessionId } = await operator.call('GET /v1/runs/:id', { id: await runIdOf(text, operator) })
    return sessionId
  }
  if (!ENDING.test(text))
    throw usageFailure(
      `"${text}" names no session.`,
      'Use an id, its last six or more digits, or @last; svc sessions list shows them.',
    )
  const { items } = await operator.call('GET /sessions', { query: { ending: text.toLowerCase() } })
  return only(text, 'session', items, (each) => `${each.id} (${each.agent}, ${each.status})`).id
}

const RUN_FORMS = 'Use an id, its last six or more digits, @last or @waiting; svc runs list shows them.'

const onlyRun = (text: string, items: readonly RunView[]): string =>
  only(text, 'run', items, (each) => `${each.runId} (${each.agent}, ${each.status})`).runId

/** A pending or decided task, by id, ending or `@waiting`. */
export async function taskOf(text: string, operator: OperatorClient): Promise<ShownTask> {
  if (isUuid(text)) return readInboxItem(await operator.call('GET /tasks/:id', { id: text.toLowerCase() }))
  if (text === '@waiting') return onlyTask(text, (await operator.call('GET /tasks', { query: {} })).items)
  if (!ENDING.test(text))
    throw usageFailure(`"${text}" names no task.`, 'Use an id or its last six or more digits; svc inbox shows them.')
  return onlyTask(
    text,
    (await operator.call('GET /tasks', { query: { ending: text.toLowerCase(), all: 'true' } })).items,
  )
}

const onlyTask = (text: string, items: readonly InboxItem[]): ShownTask =>
  only(
    text,
    'task',
    items.filter((each) => each.kind !== 'reply').map(readInboxItem),
    (each) => `${each.id} (${each.kind}${each.tool ? ` ${describeSubject(each)}` : ''}, ${each.agent})`,
  )

function only<T>(text: string, what: string, items: readonly T[], show: (item: T) => string): T {
  if (items.length === 0) throw fail('not_found', { what: `${what} ${text}` })
  if (items.length > 1) throw fail('ambiguous_reference', { text, candidates: items.map(show).join(', ') })
  return items[0]!
}

/** `namespace.name` and what follows the `@`. */
export function splitVersion(text: string): { readonly name: string; readonly version?: string } {
  const at = text.lastIndexOf('@')
  return at > 0 ? { name: text.slice(0, at), version: text.slice(at + 1) } : { name: text }
}

/**
 * Finds an agent by id or name. The failure suggests a similar name.
 * @throws Failure `not_found`
 */
export async function resolveAgent(text: string, operator: OperatorClient): Promise<AgentView> {
  const { items } = await operator.call('GET /agents', { query: {} })
  const found = items.find((each) => each.name === text || each.agentId === text.toLowerCase())
  if (found) return found
  const names = items.map((each) => each.name)
  const otherwise = names.length === 0 ? 'svc publish --deploy makes one.' : 'svc agents list shows them.'
  throw fail('not_found', { what: `agent ${text}` }, { fix: suggestWord(text, names, otherwise) })
}
