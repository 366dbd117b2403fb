import { digestOf } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import { canonicalJson, isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { timelineItemOf } from '../../engine/interface/timeline.ts'
import type { Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { CallStateRow } from '../../store/session-update.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { seesTimeline, withCaller, type ApiPrincipal, type IdentifyCaller } from '../auth/auth.ts'
import { listedInScope, runInScope } from '../auth/scope.ts'
import type { HttpReply } from '../http/reply.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { parseOrdinal } from '../http/validate.ts'
import type { ServerServices } from '../runtime/services.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/**
 * GET /v1/runs/{runId}/values/{digest} (extension): a value that an answer named by reference, to whoever may read that answer.
 * `?ordinal=` names the step of the timeline that has it. Source: docs/design/http.md#bounded-answers
 */
export const readValue = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ url, params }, { principal }) => {
    const { store } = services
    const id = readPathParam({ params }, 'runId')
    const digest = readPathParam({ params }, 'digest')
    const ordinal = parseOrdinal(url.searchParams)
    const listed = ordinal === undefined ? await listedInScope(services, principal, id) : undefined
    const run = listed ?? (await runInScope(services, principal, id))
    const session = expectDefined(await store.session(run.sessionId), 'a run has a session')
    const shownValues = async (): Promise<readonly JsonValue[]> => {
      if (listed) return [session.input, session.output]
      if (ordinal === undefined) return valuesOf(principal, run, session)
      if (!seesTimeline(principal)) return []
      return membersOf((await timelineItemOf(store, session.id, ordinal))?.content ?? null)
    }
    const values = await shownValues()
    for (const value of values) {
      const text = JSON.stringify(value)
      if (digestOf(text) === digest) return valueReply(text)
    }
    const given = !listed && seesTimeline(principal) ? await argumentsOf(store, run, digest) : undefined
    if (given !== undefined) return valueReply(given)
    throw fail('not_found', { what: 'value' })
  })

/** Arguments that a pending task of the session asks about, or of a call in the tree of the run, as canonical text. */
async function argumentsOf(store: SessionStore, { id, sessionId }: Run, digest: string): Promise<string | undefined> {
  const tasks = await store.pendingTasks(sessionId)
  const task = tasks.find(({ argumentsDigest }) => argumentsDigest === digest)
  if (task) return canonicalJson(task.arguments ?? null)
  const runIds = (await store.treesOf(sessionId, [id])).map((run) => run.id)
  const called = await findCallState(store, sessionId, runIds, ({ argumentsDigest }) => argumentsDigest === digest)
  const [call] = called ? await store.callsNamed(sessionId, [called]) : []
  return call && canonicalJson(call.arguments)
}

/** Calls read per query. */
const PAGE = 500

async function findCallState(
  store: SessionStore,
  sessionId: Run['sessionId'],
  runIds: readonly Run['id'][],
  matches: (call: CallStateRow) => boolean,
): Promise<CallStateRow | undefined> {
  for (let last: CallStateRow | null = null; ;) {
    const page: readonly CallStateRow[] = await store.callStates(sessionId, runIds, last, PAGE)
    const found = page.find(matches)
    if (found || page.length < PAGE) return found
    last = page.at(-1) ?? last
  }
}

const valueReply = (text: string): HttpReply => ({ status: 200, text })

/** While the timeline is hidden, only what the list and the status show: for a sub-agent run, its output. */
const valuesOf = (principal: ApiPrincipal, run: Run, session: Session): readonly JsonValue[] =>
  seesTimeline(principal) || run.parentRunId === null
    ? [session.input, session.output, run.input, run.output]
    : [run.output]

const membersOf = (content: unknown): readonly JsonValue[] => (isJsonObject(content) ? Object.values(content) : [])
