/**
 * Calls that wait for a time, a signal, or external work. A wait costs rows and a timer, but no memory; it ends once, and
 * later signals change nothing. Source: docs/design/steering.md#waits-outside
 */
import { createHash } from 'node:crypto'
import { toIsoText, type Instant } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { ToolCall } from '../../spec/run/run.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { COMPLETION, COMPLETION_TIMEOUT } from '../../spec/steer/wait.ts'
import { findSchemaProblem } from '../../tools/check/check.ts'
import { WAIT_UNTIL } from '../session/bindings.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import { settleCall, settleWithError, toolError } from './settle.ts'

const DAY_MS = 24 * 3600_000
/** Longest wait that a model or an author may ask for. */
const LONGEST_WAIT_MS = 366 * DAY_MS
const DEFAULT_COMPLETION_MS = DAY_MS
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
const SIGNAL_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/**
 * `svc.wait_until` and `svc.wait_event`: the call waits from now on, unless the time has passed or the arguments are
 * invalid.
 */
export function beginWait(call: CallHandle): ToolCall {
  call.addDispatchStep('builtin')
  // `authorizeCall` has checked the arguments against the schema of the tool.
  const given = call.record.arguments as JsonObject
  return call.record.ref === WAIT_UNTIL ? waitUntil(call, given) : waitForSignal(call, given)
}

function waitUntil(call: CallHandle, { at, after }: JsonObject): ToolCall {
  const { now } = call.tx
  if ((at === undefined) === (after === undefined)) return refuse(call, '', 'needs at or after, one of them')
  const moment = typeof at === 'string' && TIME.test(at) ? Date.parse(at) : NaN
  const until = at === undefined ? instantAfter(now, after) : moment
  if (until === undefined || Number.isNaN(until))
    return refuse(
      call,
      at === undefined ? '/after' : '/at',
      'must be a time such as 2026-11-20T10:00:00Z, or after: "2h"',
    )
  if (until > now + LONGEST_WAIT_MS) return refuse(call, '', 'must be within 366 days')
  if (until <= now) return settleCall(call, { outcome: 'executed', result: { waited_until: toIsoText(now) } })
  call.run.setTimer('call_wait', call.record.id, until)
  return call.to({ at: 'waiting', since: now, wait: { kind: 'timer', until } })
}

function waitForSignal(call: CallHandle, { name, schema, timeout }: JsonObject): ToolCall {
  const { now } = call.tx
  if (typeof name !== 'string' || !SIGNAL_NAME.test(name))
    return refuse(call, '/name', 'must be letters, digits, dots, dashes and underscores, at most 100')
  const until = timeout === undefined ? undefined : instantAfter(now, timeout)
  if (timeout !== undefined && (until === undefined || until > now + LONGEST_WAIT_MS))
    return refuse(call, '/timeout', 'must be a duration such as "2h", at most 366d')
  // A schema that cannot be used would refuse every signal.
  const problem = schema === undefined ? undefined : findSchemaProblem(schema as JsonSchema)
  if (problem !== undefined) return refuse(call, '/schema', `cannot be used: ${problem}`)
  if (until !== undefined) call.run.setTimer('call_wait', call.record.id, until)
  const wait = {
    kind: 'signal' as const,
    name,
    ...(schema !== undefined && { schema: schema as JsonSchema }),
    ...(until !== undefined && { until }),
  }
  return call.to({ at: 'waiting', since: now, wait })
}

/** The moment a duration from now; undefined for text that is none. */
function instantAfter(now: Instant, duration: JsonValue | undefined): Instant | undefined {
  const ms = typeof duration === 'string' ? parseDuration(duration) : undefined
  return ms === undefined ? undefined : now + ms
}

function refuse(call: CallHandle, path: string, message: string): ToolCall {
  const text = `The arguments of ${call.record.name} are not valid.`
  return settleWithError(call, 'invalid', toolError('invalid_arguments', text, { details: [{ path, message }] }))
}

/** True for a tool whose calls end with a report from outside. */
export const endsOutside = ({ tool }: Pick<CallHandle, 'tool'>): boolean => tool?.labels[COMPLETION] === 'external'

/** A call that its tool has accepted: it waits for a report with its token. */
export function waitOutside(call: CallHandle): ToolCall {
  const { tx, record, tool } = call
  const timeoutMs = parseDuration(tool?.labels[COMPLETION_TIMEOUT] ?? '') ?? DEFAULT_COMPLETION_MS
  const until = tx.now + Math.min(timeoutMs, LONGEST_WAIT_MS)
  call.run.setTimer('call_wait', record.id, until)
  return call.to({ at: 'waiting', since: tx.now, wait: { kind: 'external', until } })
}

/** The stored digest of a token; only the tool has the token itself. */
export const tokenDigest = (token: string): string => createHash('sha256').update(token).digest('hex')
