import { inspect } from 'node:util'

/** A secret value that printing, logging and serializing do not show; only `reveal` returns it. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return '***'
  }
  toJSON(): string {
    return '***'
  }
  [inspect.custom](): string {
    return '***'
  }
}

/** Shorter values are not redacted: replacing them would garble ordinary text. */
const SHORTEST = 8

/**
 * Redacts known secret values in text: verbatim, in base64, URL-encoded and JSON-escaped, also twice.
 * Every step, event, error and log line passes through it.
 */
export interface Redactor {
  add(secret: Secret | string): void
  text(text: string): string
  /** A copy of a JSON value with every string, keys included, redacted. Returns the same value if nothing was found. */
  json<T>(value: T): T
  /** The JSON of such a copy. The value is printed once, for the search and for the result. */
  jsonText(value: object): string
  /** Redacts text that arrives in chunks, also values split over two of them. */
  stream(): RedactedStream
}

export interface RedactedStream {
  /** Returns the text that may be shown now. A possible beginning of a secret is held back until the next chunk. */
  push(piece: string): string
  /** Returns the text held back. */
  end(): string
}

export function createRedactor(): Redactor {
  const needles = new Set<string>()
  let pattern: RegExp | undefined
  /** Finds in the JSON of a value what `pattern` finds in its strings. */
  let patternOfJson: RegExp | undefined
  const text = (given: string): string => {
    if (needles.size === 0) return given
    pattern ??= anyOf(needles, 'g')
    return given.replace(pattern, '***')
  }
  /** @param printed JSON; almost every value is clean, so one search over the whole text usually suffices */
  const isClean = (printed: string): boolean => {
    if (needles.size === 0) return true
    patternOfJson ??= anyOf([...needles].map(escaped), '')
    return !patternOfJson.test(printed)
  }
  const json = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(json)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [text(key), json(each)]))
    return value
  }
  return {
    add(secret) {
      const value = typeof secret === 'string' ? secret : secret.reveal()
      if (value.length < SHORTEST) return
      const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '')
      for (const form of [value, base64, encodeURIComponent(value), escaped(value), escaped(escaped(value))])
        needles.add(form)
      pattern = undefined
      patternOfJson = undefined
    },
    text,
    json<T>(value: T): T {
      return needles.size === 0 || isClean(JSON.stringify(value) ?? '') ? value : (json(value) as T)
    },
    jsonText(value) {
      const printed = JSON.stringify(value)
      return isClean(printed) ? printed : JSON.stringify(json(value))
    },
    stream() {
      let held = ''
      return {
        push(piece) {
          const known = text(held + piece)
          const shown = known.length - beginningAtEnd(known, needles)
          held = known.slice(shown)
          return known.slice(0, shown)
        },
        end() {
          const rest = held
          held = ''
          return rest
        },
      }
    },
  }
}

/** Escaped as inside a JSON string. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

const anyOf = (texts: Iterable<string>, flags: string): RegExp =>
  new RegExp(
    [...texts]
      .sort((a, b) => b.length - a.length)
      .map((each) => each.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('|'),
    flags,
  )

/** Length of the longest suffix of a text that is a prefix of a needle. */
function beginningAtEnd(text: string, needles: ReadonlySet<string>): number {
  let longest = 0
  for (const needle of needles) {
    for (let length = Math.min(needle.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(needle.slice(0, length))) longest = length
    }
  }
  return longest
}
