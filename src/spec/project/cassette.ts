/**
 * A recording of model answers and tool results of a run, one exchange per line of JSON.
 * Source: docs/design/models-and-tools.md#record-and-replay
 */
import { digestOfJson, type Digest } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'

/** Ids that differ in every run are replaced by `uuid:1`, `uuid:2` … in request and answer, in the order of the request. */
export interface RecordedExchange {
  readonly kind: 'model' | 'tool' | 'tool_schema'
  /** Digest of the recorded request. */
  readonly key: Digest
  readonly request: JsonObject
  readonly answer: JsonObject
}

/** Records or replays the exchanges of a run. */
export interface Cassette {
  readonly record?: (exchange: RecordedExchange) => void
  readonly replay?: CassetteReplay
}

/** A request as it is recorded, and the mapping of its ids. */
export interface NormalizedRequest {
  readonly kind: RecordedExchange['kind']
  readonly key: Digest
  readonly request: JsonObject
  /** Replaces ids of this run by those of the recording. */
  readonly toRecorded: (value: JsonObject) => JsonObject
  /** Replaces ids of the recording by those of this run. */
  readonly fromRecorded: (value: JsonObject) => JsonObject
}

/** UUIDv7: these ids differ from run to run; all others are derived and always the same. */
const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
const RECORDED_ID = /uuid:\d+/g

export function normalizeRequest(kind: RecordedExchange['kind'], given: JsonObject): NormalizedRequest {
  const recorded = new Map<string, string>()
  const actual = new Map<string, string>()
  const request = mapText(given, (text) =>
    text.replace(RUN_ID, (id) => {
      const name = recorded.get(id) ?? `uuid:${recorded.size + 1}`
      recorded.set(id, name)
      actual.set(name, id)
      return name
    }),
  )
  return {
    kind,
    request,
    key: digestOfJson({ kind, request }),
    toRecorded: (value) => mapText(value, (text) => text.replace(RUN_ID, (id) => recorded.get(id) ?? id)),
    fromRecorded: (value) => mapText(value, (text) => text.replace(RECORDED_ID, (name) => actual.get(name) ?? name)),
  }
}

export interface CassetteReplay {
  /** The next answer to this request. Answers to equal requests are given in order, then again from the first. */
  answer(request: NormalizedRequest): JsonObject | undefined
  /** The message if there is none, with the difference from the most similar recorded request. */
  describeMiss(request: NormalizedRequest): string
}

export function createReplay(exchanges: readonly RecordedExchange[]): CassetteReplay {
  const byKey = new Map<string, RecordedExchange[]>()
  for (const each of exchanges) {
    const id = `${each.kind} ${each.key}`
    byKey.set(id, [...(byKey.get(id) ?? []), each])
  }
  const played = new Map<string, number>()
  return {
    answer({ kind, key, fromRecorded }) {
      const id = `${kind} ${key}`
      const known = byKey.get(id)
      if (!known) return undefined
      const turn = played.get(id) ?? 0
      played.set(id, turn + 1)
      const exchange = known[turn % known.length]
      return exchange && fromRecorded(exchange.answer)
    },
    describeMiss({ kind, request }) {
      const wanted = linesOf(request)
      const nearest = exchanges
        .filter((each) => each.kind === kind)
        .map((each) => linesOf(each.request))
        .map((lines) => ({ lines, commonLines: commonLines(lines, wanted) }))
        .reduce<{ lines: string[]; commonLines: number } | undefined>(
          (best, each) => (best && best.commonLines >= each.commonLines ? best : each),
          undefined,
        )
      const what = kind === 'model' ? 'this completion' : 'this call'
      return nearest
        ? `The recording has no answer to ${what}. The nearest recorded request differs:\n${difference(nearest.lines, wanted)}`
        : `The recording has no answer to ${what}, and none to any other.`
    },
  }
}

/** @throws Failure `config_invalid` naming the invalid line */
export function readExchanges(text: string): readonly RecordedExchange[] {
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => {
      const value = parse(line)
      const { kind, key, request, answer } = isJsonObject(value) ? value : {}
      if (!isKind(kind) || typeof key !== 'string' || !isJsonObject(request) || !isJsonObject(answer))
        throw fail('config_invalid', { what: `Line ${number} of the recording is not a recorded exchange.` })
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

/** Number of equal lines at the beginning and the end of two requests. */
function commonLines(a: readonly string[], b: readonly string[]): number {
  const head = commonPrefix(a, b)
  return head + commonSuffix(a, b, head)
}

function commonPrefix(a: readonly string[], b: readonly string[]): number {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  return head
}

function commonSuffix(a: readonly string[], b: readonly string[], head: number): number {
  let tail = 0
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  return tail
}

/** Maximum lines of each side in a difference. */
const MAX_LINES = 12

function difference(recorded: readonly string[], wanted: readonly string[]): string {
  const head = commonPrefix(recorded, wanted)
  const tail = commonSuffix(recorded, wanted, head)
  const side = (sign: string, lines: readonly string[]): string[] => {
    const changed = lines.slice(head, lines.length - tail).map((line) => `${sign} ${line}`)
    return changed.length <= MAX_LINES
      ? changed
      : [...changed.slice(0, MAX_LINES), `${sign} … ${changed.length - MAX_LINES} lines more`]
  }
  return [...side('-', recorded), ...side('+', wanted)].join('\n')
}
