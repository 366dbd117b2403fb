/**
 * Validates bodies, queries and headers of `/v1` against `schemas/openapi.yaml`.
 * `scripts/openapi.js` generates the checks; this file reports each error with its place as a JSON pointer, and adds the rules that no schema can express.
 * Source: docs/design/http.md#bodies-and-errors
 */
import type { Instant } from '../../base/clock.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { OutsideReport } from '../../engine/interface/engine.ts'
import { fail } from '../../base/failure.ts'
import type {
  CancelBody,
  CompletionBody,
  SignalBody,
  FinalizeBody,
  MessageBody,
  PresignBody,
  SessionPatch,
  StartRunBody,
} from '../../spec/api.ts'
import type { TaskStatus } from '../../spec/task.ts'
import type { PageRange, SessionFilter, SessionPage, TaskPage } from '../../store/queries.ts'
import { firstPerPlace } from './findings.ts'
import { labelProblems } from './labels.ts'
import { readListCursor } from './list-cursor.ts'
import { queryFailure, throwFindings } from './refuse.ts'
import { refuseValue } from './check.ts'
import { isDigits, queryTexts, queryInteger } from './query-values.ts'
import { checks as every } from '../generated/api-every.js'
import { checks as first } from '../generated/api-first.js'

/**
 * An omitted body is an omitted `input`.
 * @param mayNameVersion whether a new session may run another version than the deployed one
 */
export function parseStart(body: unknown = {}, mayNameVersion = false): StartRunBody {
  const start = parseBody('startBody', body)
  throwFindings(labelProblems(start), 'The body is not valid')
  if (start.versionId !== undefined && start.sessionId === undefined && !mayNameVersion)
    refuseBody('/versionId', 'needs sessionId: a new session runs the deployed version')
  return start
}

export function parseSessionPatch(body: unknown): SessionPatch {
  const patch = parseBody('sessionPatch', body)
  throwFindings(labelProblems(patch), 'The body is not valid')
  return patch
}

export const parsePresign = (body: unknown): PresignBody => parseBody('presignBody', body)

export const parseFinalize = (body: unknown): FinalizeBody => parseBody('finalizeBody', body)

export const parseCancel = (body: unknown = {}): CancelBody => parseBody('cancelBody', body)

/** An omitted `data` is null. */
export function parseSignal(body: unknown = {}): { readonly data: JsonValue } {
  const { data = null } = parseBody('signalBody', body)
  return { data: data as JsonValue }
}

export function parseReport(body: unknown): OutsideReport {
  const report = parseBody('completionBody', body)
  const given = ['result', 'error'].filter((name) => Object.hasOwn(report, name))
  if (given.length !== 1) refuseBody('', 'needs result or error, one of them')
  return (given[0] === 'error' ? { error: report.error } : { result: report.result }) as OutsideReport
}

/** @param runId from the path, lower case */
export function parseMessage(body: unknown, runId: string): MessageBody {
  const message = parseBody('messageBody', body)
  const { text, message: alias, files = [] } = message
  const userTaskId = message.userTaskId?.toLowerCase()
  if (message.runId.toLowerCase() !== runId) refuseBody('/runId', 'must equal the path')
  if (userTaskId !== undefined && files.length > 0) refuseBody('/files', 'cannot come with userTaskId')
  if (userTaskId === undefined && !text && !alias && files.length === 0)
    refuseBody('', 'needs userTaskId, a non-empty text or message, or at least one file')
  if (message.steer !== undefined && (userTaskId !== undefined || (!text && !alias)))
    refuseBody('/steer', 'needs a non-empty text or message, and no userTaskId')
  return { ...message, runId, ...(userTaskId !== undefined && { userTaskId }) }
}

/**
 * `take` is 1 to 500, 50 when absent; `cursor` takes the place of `skip`.
 * @param list as its cursors name it
 */
export function parseSessionsQuery(query: URLSearchParams, list: string): SessionsRequest {
  const { versionId, version, status, tag, from, to, cursor, values, ...page } = parseQuery('sessionsQuery', {
    ...queryTexts(query, ['versionId', 'version', 'status', 'tag', 'from', 'to', 'cursor', 'values']),
    ...queryInteger(query, 'skip'),
    ...queryInteger(query, 'take'),
  })
  if (cursor !== undefined && page.skip !== undefined) throw queryFailure('/skip', 'cannot come with cursor')
  if (version !== undefined && versionId !== undefined) throw queryFailure('/version', 'cannot come with versionId')
  const [startedAt, n] = cursor === undefined ? [] : readListCursor(list, cursor)
  return {
    page: { ...pageOf(page), ...(startedAt !== undefined && n !== undefined && { after: { startedAt, n } }) },
    filter: {
      ...(versionId !== undefined && { versionId: versionId.toLowerCase() }),
      ...(status !== undefined && { status: status.split(',') }),
      ...(tag !== undefined && { tag }),
      ...(from !== undefined && { from: parseInstant('from', from) }),
      ...(to !== undefined && { to: parseInstant('to', to) }),
    },
    ...(version !== undefined && { versionLabel: version }),
    refsOnly: values === 'ref',
  }
}

interface SessionsRequest {
  readonly page: SessionPage
  readonly versionLabel?: string
  readonly filter: Omit<SessionFilter, 'workspaceId' | 'agentId'>
  readonly refsOnly: boolean
}

function parseInstant(name: string, text: string): Instant {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw queryFailure(`/${name}`, 'must be a time such as 2026-11-20T10:00:00Z')
  return at
}

export const pageOf = ({ skip = 0, take = 50 }: Partial<PageRange>): PageRange => ({ skip, take })

/** @param list as its cursors name it */
export function parseConversationQuery(query: URLSearchParams, list: string): ConversationRequest {
  const { stepContent, cursor, values, take } = parseQuery('conversationQuery', {
    ...queryTexts(query, ['stepContent', 'cursor', 'values']),
    ...queryInteger(query, 'take'),
  })
  return {
    stepContent: stepContent === 'slim' ? 'slim' : 'full',
    after: cursor === undefined ? 0 : (readListCursor(list, cursor)[0] ?? 0),
    refsOnly: values === 'ref',
    ...(take !== undefined && { take }),
  }
}

interface ConversationRequest {
  readonly stepContent: 'slim' | 'full'
  readonly after: number
  readonly refsOnly: boolean
  readonly take?: number
}

/** @returns true for `?values=ref` */
export const parseValuesQuery = (query: URLSearchParams): boolean =>
  parseQuery('sessionQuery', queryTexts(query, ['values'])).values === 'ref'

/** @param list as its cursors name it */
export function parseTasksQuery(query: URLSearchParams, list: string): TaskPage {
  const { status, cursor, take } = parseQuery('tasksQuery', {
    ...queryTexts(query, ['status', 'cursor']),
    ...queryInteger(query, 'take'),
  })
  const before = cursor === undefined ? undefined : readListCursor(list, cursor)[0]
  return {
    take: take ?? 50,
    ...(status !== undefined && { status: status.split(',') as TaskStatus[] }),
    ...(before !== undefined && { before }),
  }
}

/** `?ordinal=` of a value. */
export const parseOrdinal = (query: URLSearchParams): number | undefined =>
  parseQuery('valueQuery', queryInteger(query, 'ordinal')).ordinal

/** A stream cursor as written, and where it was given. */
export interface WrittenCursor {
  readonly text: string
  readonly path: '/Last-Event-ID' | '/after'
}

/** `Last-Event-ID`, else `?after=`, else undefined. */
export function cursorIn(headers: Headers, query: URLSearchParams): WrittenCursor | undefined {
  const header = headers.get('last-event-id')
  if (header) return { text: header, path: '/Last-Event-ID' }
  const after = query.get('after')
  return after === null ? undefined : { text: after, path: '/after' }
}

/** @param last number of the last event there is */
export function parseCursor({ text, path }: WrittenCursor, last: number): number {
  const cursor = isDigits(text) ? Number(text) : NaN
  if (cursor <= last) return cursor
  throw fail(
    'validation_failed',
    { what: 'The cursor names no event of this run.' },
    { details: [{ path, message: `must be an integer from 0 to ${last}` }] },
  )
}

/** @returns undefined when the header is absent */
export function parseIdempotencyKey(headers: Headers): string | undefined {
  const text = headers.get('idempotency-key')
  if (text === null || first.idempotencyKey(text)) return text ?? undefined
  throw fail(
    'validation_failed',
    { what: 'The Idempotency-Key is not valid.' },
    {
      details: firstPerPlace(first.idempotencyKey.errors).map(({ message }) => ({ path: '/Idempotency-Key', message })),
    },
  )
}

/** Type of a value that passes each check of the API. */
interface CheckedBodies {
  readonly startBody: StartRunBody
  readonly messageBody: MessageBody
  readonly presignBody: PresignBody
  readonly finalizeBody: FinalizeBody
  readonly cancelBody: CancelBody
  readonly signalBody: SignalBody
  readonly completionBody: CompletionBody
  readonly sessionPatch: SessionPatch
  readonly sessionsQuery: Partial<PageRange> &
    QueryTexts<'versionId' | 'version' | 'status' | 'tag' | 'from' | 'to' | 'cursor' | 'values'>
  readonly conversationQuery: { readonly take?: number } & QueryTexts<'stepContent' | 'cursor' | 'values'>
  readonly sessionQuery: QueryTexts<'values'>
  readonly tasksQuery: { readonly take?: number } & QueryTexts<'status' | 'cursor'>
  readonly valueQuery: { readonly ordinal?: number }
}
type QueryTexts<Name extends string> = { readonly [N in Name]?: string }
type ApiCheck = keyof CheckedBodies

const parseBody = <N extends ApiCheck>(name: N, value: unknown) => check(name, value, 'The body is not valid')
const parseQuery = <N extends ApiCheck>(name: N, value: unknown) => check(name, value, 'The query is not valid')
const refuseBody = (path: string, message: string): void => throwFindings([{ path, message }], 'The body is not valid')

/** @throws Failure `validation_failed` */
function check<N extends ApiCheck>(name: N, value: unknown, what: string): CheckedBodies[N] {
  if (first[name](value)) return value as CheckedBodies[N]
  return refuseValue(value, first[name].errors, every[name], what)
}
