/**
 * A recording of the answers of models and the results of tools during a run, one exchange per line of JSON. Source: decisions, section 13, "Record and replay".
 */
import { digestOfJson, type Digest } from '../base/digest.ts'
import { fail } from '../base/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'

/** Ids that are new in every run are `uuid:1`, `uuid:2` … in both halves, in the order in which the request names them. */
export interface RecordedExchange {
  readonly kind: 'model' | 'tool' | 'tool_schema'
  /** Digest of the request as recorded here. */
  readonly key: Digest
  readonly request: JsonObject
  readonly answer: JsonObject
}

/** Records exchanges of a run, or plays them back. */
export interface Cassette {
  readonly record?: (exchange: RecordedExchange) => void
  readonly replay?: CassetteTape
}

/** A request in hand: what it is on tape, and how its ids are told there. */
export interface TapedRequest {
  readonly kind: RecordedExchange['kind']
  readonly key: Digest
  readonly request: JsonObject
  /** The value with the ids of this run as they are on tape. */
  readonly toTape: (value: JsonObject) => JsonObject
  /** The value with ids of the tape as they are in this run. */
  readonly fromTape: (value: JsonObject) => JsonObject
}

/** UUIDv7: ids that differ from run to run; all other ids are derived and always the same. */
const HAPPENED = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
const ON_TAPE = /uuid:\d+/g

export function tapeRequest(kind: RecordedExchange['kind'], given: JsonObject): TapedRequest {
  const taped = new Map<string, string>()
  const actual = new Map<string, string>()
  const request = mapText(given, (text) =>
    text.replace(HAPPENED, (id) => {
      const name = taped.get(id) ?? `uuid:${taped.size + 1}`
      taped.set(id, name)
      actual.set(name, id)
      return name
    }),
  )
  return {
    kind,
    request,
    key: digestOfJson({ kind, request }),
    toTape: (value) => mapText(value, (text) => text.replace(HAPPENED, (id) => taped.get(id) ?? id)),
    fromTape: (value) => mapText(value, (text) => text.replace(ON_TAPE, (name) => actual.get(name) ?? name)),
  }
}

export interface CassetteTape {
  /** The next answer to this request: those to the same request are given in their order, then from the first again. */
  answer(asked: TapedRequest): JsonObject | undefined
  /** What to say where there is none: the recorded request that is most like it, as a difference. */
  miss(asked: TapedRequest): string
}

export function createTape(exchanges: readonly RecordedExchange[]): CassetteTape {
  const byKey = new Map<string, RecordedExchange[]>()
  for (const each of exchanges) {
    const id = `${each.kind} ${each.key}`
    byKey.set(id, [...(byKey.get(id) ?? []), each])
  }
  const played = new Map<string, number>()
  return {
    answer({ kind, key, fromTape }) {
      const id = `${kind} ${key}`
      const known = byKey.get(id)
      if (!known) return undefined
      const turn = played.get(id) ?? 0
      played.set(id, turn + 1)
      return fromTape(known[turn % known.length]!.answer)
    },
    miss({ kind, request }) {
      const wanted = linesOf(request)
      const nearest = exchanges
        .filter((each) => each.kind === kind)
        .map((each) => linesOf(each.request))
        .map((lines) => ({ lines, alike: alike(lines, wanted) }))
        .reduce<{ lines: string[]; alike: number } | undefined>(
          (best, each) => (best && best.alike >= each.alike ? best : each),
          undefined,
        )
      const what = kind === 'model' ? 'this completion' : 'this call'
      return nearest
        ? `The recording has no answer to ${what}. The nearest recorded request differs:\n${difference(nearest.lines, wanted)}`
        : `The recording has no answer to ${what}, and none to any other.`
    },
  }
}

/** @throws Failure `config_invalid` naming the line that is no exchange */
export function readExchanges(text: string): readonly RecordedExchange[] {
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => {
      const value = parse(line)
      const { kind, key, request, answer } = isJsonObject(value) ? value : {}
      if (!isKind(kind) || typeof key !== 'string' || !isJsonObject(request) || !isJsonObject(answer))
        throw fail('config_invalid', { what: `Line ${number} of the recording is no recorded exchange.` })
      return { kind, key: key as Digest, request, answer }
    })
}

/** One line with its line break. */
export const printExchange = (exchange: RecordedExchange): string => `${JSON.stringify(exchange)}\n`

function parse(line: string): JsonValue {
  try {
    return JSON.parse(line) as JsonValue
  } catch {
    return null
  }
}

const isKind = (value: unknown): value is RecordedExchange['kind'] =>
  value === 'model' || value === 'tool' || value === 'tool_schema'

function mapText<T extends JsonValue>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T
  if (Array.isArray(value)) return value.map((each) => mapText(each, change)) as T
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapText(each, change)])) as T
  return value
}

const linesOf = (request: JsonObject): string[] => JSON.stringify(request, null, 2).split('\n')

/** Numbers of equal lines at the beginning and at the end of two requests. */
function alike(a: readonly string[], b: readonly string[]): number {
  const head = headOf(a, b)
  return head + tailOf(a, b, head)
}

function headOf(a: readonly string[], b: readonly string[]): number {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  return head
}

function tailOf(a: readonly string[], b: readonly string[], head: number): number {
  let tail = 0
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  return tail
}

/** Lines of either side shown in a difference. */
const SHOWN = 12

function difference(recorded: readonly string[], wanted: readonly string[]): string {
  const head = headOf(recorded, wanted)
  const tail = tailOf(recorded, wanted, head)
  const side = (sign: string, lines: readonly string[]): string[] => {
    const changed = lines.slice(head, lines.length - tail).map((line) => `${sign} ${line}`)
    return changed.length <= SHOWN
      ? changed
      : [...changed.slice(0, SHOWN), `${sign} … ${changed.length - SHOWN} lines more`]
  }
  return [...side('-', recorded), ...side('+', wanted)].join('\n')
}
