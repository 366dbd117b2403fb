/**
 * Bodies and queries of the interface, checked by hand: each finding names its place by a JSON pointer. Unknown properties
 * are ignored on start and messages, and refused on presign, finalize and file items.
 * Source: HTTP API, "Endpoints"; decisions, sections 2 and 8.
 */
import { fail, type Detail } from '../base/failure.ts'
import { isUuid } from '../base/ids.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { FileItem, FinalizeBody, MessageBody, PresignBody, StartRunBody } from '../spec/api.ts'
import type { Page } from '../store/store.ts'

/** An omitted body is an omitted `input`. */
export function parseStart(body: unknown): StartRunBody {
  if (body === undefined) return {}
  const check = reader(body)
  const input = check.object('input')
  check.done()
  return input === undefined ? {} : { input }
}

/** @param runId the one of the path, lower case */
export function parseMessage(body: unknown, runId: string): MessageBody {
  const check = reader(body)
  if (check.required('runId', check.text('runId'))?.toLowerCase() !== runId)
    check.wrong('/runId', 'must equal the path')
  const userTaskId = check.text('userTaskId', { uuid: true })?.toLowerCase()
  const message: MessageBody = {
    runId,
    ...defined({
      userTaskId,
      approved: check.boolean('approved'),
      selectedOptionId: check.text('selectedOptionId'),
      textValue: check.text('textValue'),
      numberValue: check.number('numberValue'),
      metadata: check.object('metadata'),
      text: check.text('text'),
      message: check.text('message'),
      files: check.list('files', fileItem),
      completedByEmail: check.text('completedByEmail', { email: true }),
    }),
  }
  const files = message.files?.length ?? 0
  if (userTaskId !== undefined && files > 0) check.wrong('/files', 'cannot come with userTaskId')
  if (userTaskId === undefined && !message.text && !message.message && files === 0 && check.clean())
    check.wrong('', 'needs userTaskId, a non-empty text or message, or at least one file')
  check.done()
  return message
}

export function parsePresign(body: unknown): PresignBody {
  const check = reader(body, ['filename', 'mediaType', 'maxContentLength'])
  const filename = check.required('filename', check.text('filename', { min: 1, max: 255 }))
  const mediaType = check.required('mediaType', check.text('mediaType', { mediaType: true }))
  const maxContentLength = check.required('maxContentLength', check.bytes('maxContentLength'))
  check.done()
  return { filename: filename!, mediaType: mediaType!, maxContentLength: maxContentLength! }
}

export function parseFinalize(body: unknown): FinalizeBody {
  const check = reader(body, ['objectKey', 'maxContentLength', 'filename', 'mediaType'])
  const objectKey = check.required('objectKey', check.text('objectKey', { min: 1, max: 1024 }))
  const maxContentLength = check.required('maxContentLength', check.bytes('maxContentLength'))
  const labels = defined({ filename: check.text('filename'), mediaType: check.text('mediaType') })
  check.done()
  return { objectKey: objectKey!, maxContentLength: maxContentLength!, ...labels }
}

export function parseCancel(body: unknown): { readonly reason?: string } {
  if (body === undefined) return {}
  const check = reader(body)
  const reason = check.text('reason', { max: 2000 })
  check.done()
  return defined({ reason })
}

/** `take` is 1 to 500, 50 when absent. */
export function parsePage(query: URLSearchParams): Page {
  const problems: Detail[] = []
  const whole = (name: string, or: number, least: number, most: number): number => {
    const text = query.get(name)
    if (text === null) return or
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    problems.push({
      path: `/${name}`,
      message: most === Infinity ? `must be an integer from ${least}` : `must be an integer from ${least} to ${most}`,
    })
    return or
  }
  const page = { skip: whole('skip', 0, 0, Infinity), take: whole('take', 50, 1, 500) }
  refuse(problems, 'The query is not valid')
  return page
}

export function parseStepContent(query: URLSearchParams): 'slim' | 'full' {
  const text = query.get('stepContent') ?? 'full'
  if (text !== 'slim' && text !== 'full')
    refuse([{ path: '/stepContent', message: 'must be slim or full' }], 'The query is not valid')
  return text as 'slim' | 'full'
}

/** A cursor of the stream: `Last-Event-ID`, else `?after=`, else undefined. @param last number of the last event there is */
export function parseCursor(headers: Headers, query: URLSearchParams, last: number): number | undefined {
  const text = headers.get('last-event-id') || query.get('after')
  if (text === null || text === '') return undefined
  const cursor = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (cursor <= last) return cursor
  const path = headers.get('last-event-id') ? '/Last-Event-ID' : '/after'
  throw fail(
    'validation_failed',
    { what: 'The cursor names no event of this run.' },
    { details: [{ path, message: `must be an integer from 0 to ${last}` }] },
  )
}

/** @returns undefined when the header is absent */
export function parseIdempotencyKey(headers: Headers): string | undefined {
  const text = headers.get('idempotency-key')
  if (text === null) return undefined
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text
  throw fail(
    'validation_failed',
    { what: 'The Idempotency-Key is not valid.' },
    { details: [{ path: '/Idempotency-Key', message: 'must have 1 to 255 visible ASCII characters' }] },
  )
}

interface TextRules {
  readonly min?: number
  readonly max?: number
  readonly uuid?: true
  readonly email?: true
  readonly mediaType?: true
}

const MEDIA_TYPE =
  /^[A-Za-z0-9!#$&^_.+-]{1,127}\/[A-Za-z0-9!#$&^_.+-]{1,127}(?:\s*;\s*[A-Za-z0-9!#$&^_.+-]+=(?:[A-Za-z0-9!#$&^_.+-]+|"[^"\r\n]*"))*$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

/**
 * Reads the properties of an object and collects what is wrong; `done` throws it all at once. A property that is wrong reads
 * as undefined.
 * @param only the names that are allowed; absent = others are ignored
 */
export function reader(body: unknown, only?: readonly string[], at = '', problems: Detail[] = []) {
  if (!isJsonObject(body)) problems.push({ path: at, message: 'must be an object' })
  const source: JsonObject = isJsonObject(body) ? body : {}
  const wrong = (path: string, message: string): undefined => {
    if (!problems.some((each) => each.path === path)) problems.push({ path, message })
    return undefined
  }
  if (only)
    for (const name of Object.keys(source)) if (!only.includes(name)) wrong(`${at}/${name}`, 'is not a known property')
  const typed = <T>(name: string, is: (value: unknown) => value is T, message: string): T | undefined => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined
    return value === undefined || is(value) ? value : wrong(`${at}/${name}`, message)
  }
  return {
    wrong,
    clean: () => problems.length === 0,
    required<T>(name: string, value: T | undefined): T | undefined {
      return value === undefined && !Object.hasOwn(source, name) ? wrong(`${at}/${name}`, 'is required') : value
    },
    text(name: string, rules: TextRules = {}): string | undefined {
      const value = typed(name, isText, 'must be a string')
      if (value === undefined) return undefined
      const { min = 0, max = Infinity } = rules
      // Characters are counted as JSON Schema counts them, where the quick count says too many.
      if (value.length < min || (value.length > max && Array.from(value).length > max))
        return wrong(
          `${at}/${name}`,
          min > 0 ? `must have ${min} to ${max} characters` : `must have at most ${max} characters`,
        )
      if (rules.uuid && !isUuid(value)) return wrong(`${at}/${name}`, 'must be a UUID')
      if (rules.email && !EMAIL.test(value)) return wrong(`${at}/${name}`, 'must be an email address')
      if (rules.mediaType && !MEDIA_TYPE.test(value))
        return wrong(`${at}/${name}`, 'must be a media type such as image/png')
      return value
    },
    boolean: (name: string) => typed(name, isBoolean, 'must be true or false'),
    number: (name: string) => typed(name, isFiniteNumber, 'must be a number'),
    bytes: (name: string) => typed(name, isByteCount, 'must be an integer from 1'),
    object: (name: string) => typed(name, isJsonObject, 'must be an object'),
    list<T>(name: string, parse: (value: unknown, at: string, problems: Detail[]) => T): readonly T[] | undefined {
      return typed(name, Array.isArray, 'must be an array')?.map((each, index) =>
        parse(each, `${at}/${name}/${index}`, problems),
      )
    },
    /** @throws Failure `validation_failed` */
    done: () => refuse(problems, 'The body is not valid'),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isFiniteNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isByteCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1

function fileItem(value: unknown, at: string, problems: Detail[]): FileItem {
  const check = reader(value, ['svcFile', 'objectKey', 'filename', 'mediaType'], at, problems)
  if (check.required('svcFile', check.boolean('svcFile')) === false) check.wrong(`${at}/svcFile`, 'must be true')
  const objectKey = check.required('objectKey', check.text('objectKey', { min: 1, max: 1024 }))
  return {
    svcFile: true,
    objectKey: objectKey ?? '',
    ...defined({ filename: check.text('filename'), mediaType: check.text('mediaType') }),
  }
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** The same object without the properties that are undefined. */
export const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>

function refuse(problems: readonly Detail[], what: string): void {
  const first = problems[0]
  if (!first) return
  throw fail(
    'validation_failed',
    { what: `${what}: ${first.path === '' ? '' : `${first.path} `}${first.message}.` },
    { details: problems },
  )
}
