/** Calls of tools, for history conditions, backtests and recovery. */
import type { Dialect } from '../dialect.ts'
import { joinClauses } from '../rows/filter.ts'
import { toValue } from '../rows/json-column.ts'
import type { CallRow, CallStateRow } from '../session-update.ts'
import { readRows, type NounWork } from '../statement.ts'

type StoredCall = CallStateRow & { readonly arguments: string }

const toCall = ({ arguments: text, ...row }: StoredCall): CallRow => ({ ...row, arguments: toValue(text) })

export function prepareCalls({
  key,
  column,
  find,
  findAll,
  idOf,
  ofWorkspace,
  records,
}: Dialect): NounWork<'calls' | 'callsNamed' | 'callStates', never> {
  const [session, run, agent] = [column('session'), column('run'), column('agent')]
  const state = `${idOf('c', 'session')} as "sessionId", r.id as "runId", c.call_id as "callId",
    ${idOf('c', 'agent')} as "agentId", c.ref, c.arguments_digest as "argumentsDigest", c.state, c.attempt,
    c.idempotency_key as "idempotencyKey", c.at`
  const from = `from call c join run r on r.${key} = c.${run}`
  const ofSession = `c.${session} = ${find('session', 'sessionId')}`
  const ofRuns = findAll(`c.${run}`, 'run', 'runIds')
  const named = `select ${state}, c.arguments ${from}
    where ${ofSession} and (c.${run}, c.call_id) in (
      select n.${key}, x."callId"
      from ${records('names', { runId: 'uuid', callId: 'text' }, 'x')} join run n on n.id = x."runId"
    )`
  const states = (position: string): string => `select ${state} ${from}
    where ${ofSession} and ${ofRuns} ${position} order by c.${run}, c.call_id limit :limit`
  const firstStates = states('')
  const laterStates = states(`and (c.${run}, c.call_id) > (${find('run', 'runId')}, :callId)`)
  return {
    reads: {
      *calls(filter) {
        const { where, values } = joinClauses([
          [ofSession, filter.sessionId],
          [ofRuns, filter.runIds],
          [`c.${agent} in (select ${key} from agent where id = :agentId)`, filter.agentId],
          [ofWorkspace('c'), filter.workspaceId],
          ['c.at >= :since', filter.since],
        ])
        const sql = `select ${state}, c.arguments ${from} where ${where} order by c.at, r.n, c.call_id`
        return (yield* readRows<StoredCall>(sql, values)).map(toCall)
      },
      *callsNamed(sessionId, names) {
        return (yield* readRows<StoredCall>(named, { sessionId, names: JSON.stringify(names) })).map(toCall)
      },
      callStates: (sessionId, runIds, after, limit) =>
        after === null
          ? readRows<CallStateRow>(firstStates, { sessionId, runIds, limit })
          : readRows<CallStateRow>(laterStates, { sessionId, runIds, ...after, limit }),
    },
    writes: {},
    transactions: {},
  }
}
