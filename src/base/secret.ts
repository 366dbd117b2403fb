import { inspect } from 'node:util'

/** A secret's value, which no printing, logging or serialising shows. `reveal` is the only way to it. */
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

/** Shorter values are not searched for: replacing them would garble ordinary text. */
const SHORTEST = 8

/**
 * Blanks known secret values in text: as they are, in base64, URL-encoded and JSON-escaped, also twice.
 * It stands at the one place through which every step, event, error and log line is written.
 */
export interface Redactor {
  add(secret: Secret | string): void
  text(text: string): string
  /** A copy of a JSON value with every string, keys included, blanked. The same value when nothing was found. */
  json<T>(value: T): T
  /** Blanks text that arrives in pieces, so that a value split over two of them is found too. */
  stream(): RedactedStream
}

export interface RedactedStream {
  /** What may be shown now. What may be the beginning of a secret is held back until the next piece tells. */
  push(piece: string): string
  /** What was held back. */
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
  const isClean = (value: unknown): boolean => {
    patternOfJson ??= anyOf([...needles].map(escaped), '')
    return !patternOfJson.test(JSON.stringify(value) ?? '')
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
      // One search over the whole text first: almost every value is clean and is then returned as it is.
      return needles.size === 0 || isClean(value) ? value : (json(value) as T)
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

/** As it stands inside a string of JSON. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

const anyOf = (texts: Iterable<string>, flags: string): RegExp =>
  new RegExp(
    [...texts]
      .sort((a, b) => b.length - a.length)
      .map((each) => each.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('|'),
    flags,
  )

/** Length of the longest end of a text that is the beginning of a needle. */
function beginningAtEnd(text: string, needles: ReadonlySet<string>): number {
  let longest = 0
  for (const needle of needles) {
    for (let length = Math.min(needle.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(needle.slice(0, length))) longest = length
    }
  }
  return longest
}
