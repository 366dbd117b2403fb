/** Resolves what users type for a run, a task or an agent to its id. Source: docs/design/command-line.md#names-of-things */
import { fail } from '../../base/failure.ts'
import { isUuid } from '../../base/ids.ts'
import type { InboxItem } from '../../operations/tasks.ts'
import type { AgentView } from '../../operations/versions.ts'
import type { RunView } from '../../operations/runs.ts'
import type { ShownTask } from '../../spec/task.ts'
import { describeSubject } from '../../view/task/task-subject.ts'
import { readInboxItem } from '../../view/task/task-content.ts'
import { countNoun } from '../shell/counted.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/** Largest N of `@last-N`, plus one. */
const LOOK_BACK = 100

const ENDING = /^[0-9a-f-]{6,35}$/i

/**
 * A run's id from a UUID, a unique ending of six or more hexadecimal digits, `@last`, `@last-2` or `@waiting`.
 * @param operator absent where only /v1 is spoken: a full id is needed then
 * @param status of runs that `@waiting` means, where there are such
 */
export async function runIdOf(text: string, operator: OperatorClient | undefined, status?: string): Promise<string> {
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
    const waiting = items.filter((each) => each.parentRunId === null)
    const meant = waiting.filter((each) => each.status === status)
    return onlyRun(text, meant.length > 0 ? meant : waiting)
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
  const show = (each: (typeof items)[number]): string => `${each.agent}, ${each.status}`
  return only(text, 'session', items, { idOf: ({ id }) => id, show, list: 'svc sessions list' }).id
}

const RUN_FORMS = 'Use an id, its last six or more digits, @last or @waiting; svc runs list shows them.'

const onlyRun = (text: string, items: readonly RunView[]): string =>
  only(text, 'run', items, {
    idOf: ({ runId }) => runId,
    show: ({ agent, status }) => `${agent}, ${status}`,
    list: 'svc runs list',
  }).runId

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
  only(text, 'task', items.filter((each) => each.kind !== 'reply').map(readInboxItem), {
    idOf: ({ id }) => id,
    show: (each) => `${each.kind}${each.tool ? ` ${describeSubject(each)}` : ''}, ${each.agent}`,
    list: 'svc inbox',
  })

/** How the candidates of a name are listed. */
interface CandidateList<T> {
  readonly idOf: (item: T) => string
  readonly show: (item: T) => string
  /** Command that lists them all. */
  readonly list: string
}

/** Most candidates that an error shows. */
const SHOWN_CANDIDATES = 5

function only<T>(text: string, what: string, items: readonly T[], { idOf, show, list }: CandidateList<T>): T {
  const [first, ...others] = items
  if (first === undefined) throw fail('not_found', { what: `${what} ${text}` })
  if (others.length === 0) return first
  const length = endingLength(items.map(idOf))
  const lines = items.slice(0, SHOWN_CANDIDATES).map((each) => `${idOf(each).slice(-length)}  ${show(each)}`)
  const more = items.length - lines.length
  throw fail(
    'ambiguous_reference',
    { text, candidates: countNoun(items.length, what) },
    {
      details: [...lines, ...(more > 0 ? [`and ${more} more`] : [])].map((message) => ({ path: '', message })),
      fix: `Name one by its id; ${list} shows them.`,
    },
  )
}

/** The fewest last digits, at least six, that tell these ids apart. */
function endingLength(ids: readonly string[]): number {
  let length = 6
  while (length < 36 && new Set(ids.map((id) => id.slice(-length))).size < ids.length) length += 1
  return length
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
