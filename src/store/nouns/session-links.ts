/** The chains of sessions as an export has them. Source: docs/design/audit.md#sessions */
import type { RunId, SessionId, StepId } from '../../base/ids.ts'
import type { EventKind } from '../../spec/event.ts'
import {
  linesOfContent,
  type ChainedSession,
  type LinkedEvent,
  type LinkedStep,
  type RowDigest,
  type SessionLink,
} from '../../spec/chain/session-link.ts'
import type { StepType } from '../../spec/step.ts'
import type { Dialect } from '../dialect.ts'
import { joinClauses } from '../rows/filter.ts'
import { isStepStart } from '../rows/link-rows.ts'
import { readRows, type NounWork } from '../statement.ts'

interface LinkRow {
  readonly version: number
  readonly seq: number
  readonly events: number
  readonly ordinal: number
  readonly steps: number
  readonly contentDigest: string
  readonly salt: string | null
  readonly rowDigests: string | null
  readonly hash: string
}

/** `finishedAt` and `error` are those of the step that the event shows. */
interface EventRow {
  readonly seq: number
  readonly runId: RunId
  readonly ts: number
  readonly kind: EventKind
  readonly subject: string
  readonly ordinal: number | null
  readonly data: string
  readonly finishedAt: number | null
  readonly error: string | null
}

interface StepRow {
  readonly ordinal: number
  readonly runId: RunId
  readonly id: StepId
  readonly type: StepType
  readonly sequence: number
  readonly content: string
  readonly resultDigest: string | null
  readonly result: string | null
  readonly hidden: string | null
  readonly tokensUsed: number | null
  readonly error: string | null
  readonly startedAt: number
  readonly finishedAt: number | null
}

/** `ChainedSession` of sessions `s`. */
export function selectChained({ column, key, owner }: Dialect): string {
  const last = (table: string, number: string): string =>
    `(select max(${number}) from ${table} where ${column('session')} = s.${key})`
  const lastLink = (name: string): string =>
    `(select ${name} from session_link where ${column('session')} = s.${key} order by version desc limit 1)`
  return `select s.id as "session", ${owner('s').agent} as "agent", s.started_at as "startedAt", s.erased_at as "erasedAt",
      ${lastLink('hash')} as "head", ${lastLink('version')} as "headVersion",
      coalesce(${last('event', 'seq')}, 0) as "lastSeq", coalesce(${last('step', 'ordinal')}, 0) as "lastOrdinal"
    from session s ${owner('s').join}`
}

export function prepareSessionLinks(dialect: Dialect): NounWork<'chainedSessions' | 'linksOf', never> {
  const { column, find, key, owner } = dialect
  const ofSession = `${column('session')} = ${find('session', 'sessionId')}`
  const listed = selectChained(dialect)
  const ids = key === 'n' ? 's.id' : 's.id::text'
  // As votes name approvers.
  const starter = `coalesce('operator:' || s.person, case s.trigger_type when 'operator' then 'operator:' else 'key:' end || s.triggered_by)`
  const byPerson = `(${starter} = :by or s.${key} in (
      select t.${column('session')} from vote v join user_task t on t.${key} = v.${column('user_task')} where v.approver = :by))`
  const links = `select version, seq, events, ordinal, steps, content_digest as "contentDigest", salt,
      row_digests as "rowDigests", hash
    from session_link
    where ${ofSession} and version > :after
    order by version
    limit :limit`
  const events = `select e.seq, r.id as "runId", e.ts, e.kind, e.subject, e.ordinal, e.data, t.finished_at as "finishedAt", t.error
    from event e
      join run r on r.${key} = e.${column('run')}
      left join step t on t.${column('session')} = e.${column('session')} and t.ordinal = e.ordinal
    where e.${ofSession} and e.seq > :after and e.seq <= :upTo
    order by e.seq`
  const steps = `select t.ordinal, r.id as "runId", t.id, t.type, t.sequence, t.content, t.result_digest as "resultDigest", l.result,
      t.hidden, t.tokens_used as "tokensUsed", t.error, t.started_at as "startedAt", t.finished_at as "finishedAt"
    from step t
      join run r on r.${key} = t.${column('run')}
      left join large_result l on l.digest = t.result_digest
    where t.${ofSession} and t.ordinal > :after and t.ordinal <= :upTo
    order by t.ordinal`
  return {
    reads: {
      *chainedSessions({ workspaceId, agentId, by, from, to, after }, limit) {
        const { where, values } = joinClauses([
          [`${owner('s').workspace} = :workspaceId`, workspaceId],
          [`${owner('s').agent} = :agentId`, agentId],
          [byPerson, by],
          ['s.started_at >= :from', from],
          ['s.started_at < :to', to],
          [`(s.started_at > :afterAt or s.started_at = :afterAt and ${ids} > :afterId)`, after?.startedAt],
        ])
        const page = `${listed} where ${where} order by s.started_at, ${ids} limit :limit`
        return yield* readRows<ChainedSession>(page, {
          ...values,
          ...(after && { afterAt: after.startedAt, afterId: after.session }),
          limit,
        })
      },
      *linksOf(sessionId, after, limit) {
        const rows = yield* readRows<LinkRow>(links, { sessionId, after, limit })
        const [first, end] = [rows[0], rows.at(-1)]
        if (!first || !end) return []
        const range = { sessionId, after: first.seq - first.events, upTo: end.seq }
        const eventRows = yield* readRows<EventRow>(events, range)
        const stepRows = yield* readRows<StepRow>(steps, {
          sessionId,
          after: first.ordinal - first.steps,
          upTo: end.ordinal,
        })
        return rows.map((row) => toSessionLink(sessionId, row, eventRows, stepRows))
      },
    },
    writes: {},
    transactions: {},
  }
}

/** By the rules of `toNewLink`. What is missing of a link is missing here, too, and found by whoever checks it. */
function toSessionLink(
  session: SessionId,
  { version, seq, events: added, ordinal, steps: addedSteps, contentDigest, salt, rowDigests, hash }: LinkRow,
  allEvents: readonly EventRow[],
  allSteps: readonly StepRow[],
): SessionLink {
  const events = allEvents.filter((each) => each.seq > seq - added && each.seq <= seq)
  const steps = allSteps.filter((each) => each.ordinal > ordinal - addedSteps && each.ordinal <= ordinal)
  const shown = new Set(events.map((each) => each.ordinal))
  const hasEnd = (event: EventRow): boolean => event.ordinal !== null && !isStepStart(event)
  const isErased = salt === null
  const results = steps.flatMap(({ result }) => (result === null || isErased ? [] : [result]))
  return {
    content: isErased
      ? null
      : linesOfContent(
          steps.map((step) => ({ ...step, error: shown.has(step.ordinal) ? null : step.error })),
          events.map((event) => ({
            data: event.ordinal === null ? event.data : null,
            error: hasEnd(event) ? event.error : null,
          })),
        ),
    contentDigest,
    events: events.map((event): LinkedEvent => {
      const { kind, ordinal, runId, seq, subject, ts } = event
      return { finishedAt: hasEnd(event) ? event.finishedAt : null, kind, ordinal, runId, seq, subject, ts }
    }),
    hash,
    ...(results.length > 0 && { results }),
    // The cast holds because only the store writes the column; what else somebody writes has another hash.
    ...(rowDigests !== null && { rows: JSON.parse(rowDigests) as readonly RowDigest[] }),
    salt,
    session,
    steps: steps.map((step): LinkedStep => {
      const { id, ordinal, runId, sequence, startedAt, tokensUsed, type } = step
      const finishedAt = shown.has(ordinal) ? null : step.finishedAt
      return { finishedAt, id, ordinal, runId, sequence, startedAt, tokensUsed, type }
    }),
    version,
  }
}
