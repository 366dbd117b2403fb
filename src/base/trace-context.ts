/**
 * W3C Trace Context: the headers with which a request belongs to a trace. What comes in is read strictly, since it is passed on.
 * See https://www.w3.org/TR/trace-context/.
 */
import { hash } from 'node:crypto'

/** The headers as they are passed on: `traceparent` in its version 00. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits: the span that is the parent of what is requested. */
  readonly spanId: string
  readonly flags: number
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/s

/** The flags that we know: sampled, and a trace id with random bits. Others must not be passed on. */
const SAMPLED = 0x01
const KNOWN_FLAGS = 0x03

/** A trace id or span id of zeros is none. */
const ZEROS = /^0+$/

/** Reads the headers of a request; undefined where it belongs to no trace, or says so in a form that the standard does not have. */
export function readTraceContext(headers: Headers): TraceContext | undefined {
  // The two are read apart only where they are needed: most requests have none.
  const given = headers.get('traceparent')
  const parent = given === null ? undefined : parseTraceparent(given.trim())
  if (!parent) return undefined
  const tracestate = cleanTracestate(headers.get('tracestate') ?? '')
  return { traceparent: formatTraceparent(parent), ...(tracestate !== '' && { tracestate }) }
}

/** Undefined for a malformed text. Of a later version of the standard only the parts that version 00 has are read. */
export function parseTraceparent(text: string): TraceParent | undefined {
  // A list of two headers, or a later version with more parts, is not longer than this.
  if (text.length > MAX_PARENT) return undefined
  const [, version, traceId = '', spanId = '', flags = '', rest] = PARENT.exec(text) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS }
}

const MAX_PARENT = 256

export const formatTraceparent = ({ traceId, spanId, flags }: TraceParent): string =>
  `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`

/** What the standard asks a participant to pass on at least. */
const MAX_STATE = 512
const MAX_MEMBERS = 32
/** Members that are longer are left out first. */
const LONG_MEMBER = 128
const MEMBER =
  /^((?:[a-z0-9][a-z0-9_\-*/]{0,255})|(?:[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13}))=([\x20-\x2B\x2D-\x3C\x3E-\x7E]{0,255}[\x21-\x2B\x2D-\x3C\x3E-\x7E])$/

/** A `tracestate` that can be passed on; empty where the given one is malformed. */
function cleanTracestate(text: string): string {
  if (text.length > MAX_MEMBERS * MAX_STATE) return ''
  const members = text.split(',').map((each) => each.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
  const named = members.filter((each) => each !== '')
  const keys = new Set<string>()
  for (const member of named) {
    const key = MEMBER.exec(member)?.[1]
    if (key === undefined || keys.has(key)) return ''
    keys.add(key)
  }
  if (named.length > MAX_MEMBERS) return ''
  return shortenState(named)
}

/** Leaves out long members, then the oldest, which stand at the end. */
function shortenState(members: readonly string[]): string {
  let kept = members
  const text = (): string => kept.join(',')
  if (text().length > MAX_STATE) kept = kept.filter(({ length }) => length <= LONG_MEMBER)
  while (text().length > MAX_STATE) kept = kept.slice(0, -1)
  return text()
}

/** The context of what `span` requests, in the trace of `above`. */
export const below = (above: TraceContext, spanId: string): TraceContext => ({
  ...above,
  traceparent: above.traceparent.replace(/[0-9a-f]{16}(?=-[0-9a-f]{2}$)/, spanId),
})

/**
 * Context of a trace that begins here. It is marked as sampled: whoever is called records it, unless told otherwise there. The id is
 * derived, so that spans that are exported later, by another process, belong to the same trace.
 */
export const beginTrace = (origin: string): TraceContext => ({
  traceparent: formatTraceparent({
    traceId: idOf(`trace ${origin}`, 32),
    spanId: spanIdOf(origin),
    flags: SAMPLED,
  }),
})

/** The id of the span of something that has a name of its own. */
export const spanIdOf = (...name: readonly (string | number)[]): string => idOf(`span ${name.join(' ')}`, 16)

function idOf(name: string, digits: number): string {
  const id = hash('sha256', name).slice(0, digits)
  // Once in 2^64; zeros are no id.
  return ZEROS.test(id) ? id.replace(/0$/, '1') : id
}
