/** What is recorded of operators and sessions, as operators read it. Source: docs/design/audit.md#acts; docs/design/audit.md#sessions */
import { toIsoText } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { ActView } from '../../operations/acts.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { SetupName } from '../../spec/people/setup-name.ts'
import { ACTS_BY_KIND, type ActKind, type StoredAct } from '../../spec/people/act.ts'
import { queryFailure } from '../http/refuse.ts'
import { findAgent, findRun } from './find/find.ts'
import type { OperatorAction } from './people/act.ts'
import { parseSince } from './runs.ts'
import { findSession } from './sessions.ts'

const DEFAULT_TAKE = 100

export const listActs: OperatorAction<'GET /acts'> = async ({ services, query }) => {
  const { store, workspace } = services
  const { kind, by, since, until, run, session, after, skip = 0, take = DEFAULT_TAKE } = query
  const filter = {
    workspaceId: workspace.id,
    ...(kind !== undefined && { kinds: parseKinds(kind) }),
    ...(by !== undefined && { by: by.includes(':') ? by : `operator:${by}` }),
    ...(since !== undefined && { since: parseSince(since) }),
    ...(until !== undefined && { until: parseSince(until) }),
    ...(run !== undefined && { runId: (await findRun(services, run.toLowerCase())).id satisfies RunId }),
    ...(session !== undefined && { sessionId: session.toLowerCase() as SessionId }),
    ...(after !== undefined && { after }),
  }
  const { items, total } = await store.acts(filter, { skip, take })
  return { items: items.map(toActView), total }
}

export const listActRecords: OperatorAction<'GET /acts/records'> = async ({ services, query }) => {
  const { after = 0, take = DEFAULT_TAKE } = query
  const items = await services.store.actsInOrder(services.workspace.id, after, take)
  return { items, total: items.length }
}

/* The chains of sessions as they are stored. */

export const listChainedSessions: OperatorAction<'GET /audit/sessions'> = async ({ services, query }) => {
  const { store, workspace } = services
  const { agent, by, since, until, after, take = DEFAULT_TAKE } = query
  const [startedAt, session] = after?.split(' ') ?? []
  const filter = {
    workspaceId: workspace.id,
    ...(agent !== undefined && { agentId: (await findAgent(services, agent)).id }),
    ...(by !== undefined && { by: by.includes(':') ? by : `operator:${by}` }),
    ...(since !== undefined && { from: parseSince(since) }),
    ...(until !== undefined && { to: parseSince(until) }),
    ...(session !== undefined && { after: { startedAt: Number(startedAt), session: session as SessionId } }),
  }
  const items = await store.chainedSessions(filter, take)
  return { items, total: items.length }
}

export const listSessionLinks: OperatorAction<'GET /audit/sessions/:id'> = async (request) => {
  const { after = 0, take = DEFAULT_TAKE } = request.query
  const { id } = await findSession(request)
  const items = await request.services.store.linksOf(id, after, take)
  return { items, total: items.length }
}

export const readSessionRows: OperatorAction<'GET /audit/sessions/:id/rows'> = async (request) => {
  const { id } = await findSession(request)
  const found = await request.services.store.sessionRows(id)
  if (!found) throw fail('not_found', { what: 'session' })
  return found
}

export const listSetupRows: OperatorAction<'GET /audit/setup'> = async ({ services, query }) => {
  const { after, take = DEFAULT_TAKE } = query
  // The cast holds: the schema checked the noun.
  const items = await services.store.setupRows(services.workspace.id, after as SetupName | undefined, take)
  return { items, total: items.length }
}

/** `version` names all kinds that begin with `version.`. A misspelt kind would silently find nothing. */
function parseKinds(text: string): readonly ActKind[] {
  const all = Object.keys(ACTS_BY_KIND) as ActKind[]
  return text.split(',').flatMap((wanted) => {
    const found = all.filter((kind) => kind === wanted || kind.startsWith(`${wanted}.`))
    if (found.length === 0) throw queryFailure('/kind', `must name kinds of acts: ${all.join(', ')}`)
    return found
  })
}

function toActView({
  content,
  counted: count,
  workspaceId: _workspace,
  contentDigest: _digest,
  salt: _salt,
  rowDigests: _rows,
  at,
  ...act
}: StoredAct): ActView {
  const { reason = null, address = null, before = null, after = null } = content ?? {}
  return { ...act, words: ACTS_BY_KIND[act.kind].words, at: toIsoText(at), count, reason, address, before, after }
}

/** A checkpoint that reached its copies, for servers that ask for them. Source: docs/design/audit.md#checkpoints-that-are-required */
export const reportCheckpoint: OperatorAction<'POST /audit/checkpoints'> = async ({ services, operator, body }) => {
  const { engine, workspace, clock } = services
  const at = clock.now()
  await engine.reportCheckpoint({ workspaceId: workspace.id, at, by: approverOf(operator), size: body.size })
  return { at: toIsoText(at) }
}
