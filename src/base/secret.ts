import { inspect } from 'node:util'
import { cutText, type CutText } from './text/cut-text.ts'
import { createSpellingMatcher, type SpellingMatcher } from './secret-spellings.ts'

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
 * Redacts known secret values in text, however they are spelled there (`secret-spellings.ts`).
 * Every step, event, error and log line passes through it.
 */
export interface Redactor {
  add(secret: Secret | string): void
  /** For a value that has ended: what is redacted for ever must not grow with each short-lived token. */
  remove(value: string): void
  text(text: string): string
  /** Redacts first and cuts then: half a secret would not be recognized. */
  cut(text: string, most: number, keep?: 'start' | 'end'): CutText
  /** A copy of a JSON value with every string and number, keys included, redacted. Returns the same value if nothing was found. */
  json<T>(value: T): T
  /** The JSON of such a copy. The value is printed once, for the search and for the result. */
  jsonText(value: object): string
  /** Redacts text that arrives in chunks, also values split over two of them. */
  stream(): RedactedStream
}

export interface RedactedStream {
  /** Returns the text that may be shown now. A possible beginning of a secret is held back until the next chunk. */
  push(piece: string): string
  /**
   * Returns the text held back.
   * @param isCut the text goes on, but not here: what may be the first part of a secret is redacted
   */
  end(isCut?: boolean): string
}

/** Of a secret whose rest is missing this much may be seen: less than that is in every text by chance. */
const SHOWN_OF_A_PART = 4

export function createRedactor(): Redactor {
  const values = new Set<string>()
  let matcher: SpellingMatcher | undefined
  const scan = (text: string, isOpenEnded: boolean): ScannedText => {
    matcher ??= createSpellingMatcher(values)
    return scanText(matcher, text, isOpenEnded)
  }
  const text = (given: string): string => (values.size === 0 ? given : scan(given, false).shown)
  const json = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') return text(String(value)) === String(value) ? value : MASK
    if (Array.isArray(value)) return value.map(json)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [text(key), json(each)]))
    return value
  }
  /** @param printed JSON; almost every value is clean, so one search over the whole text usually suffices */
  const isClean = (printed: string): boolean => values.size === 0 || !scan(printed, false).hasFound
  return {
    add(secret) {
      for (const value of formsOf(typeof secret === 'string' ? secret : secret.reveal())) {
        if (value.length < SHORTEST || values.has(value)) continue
        values.add(value)
        matcher = undefined
      }
    },
    remove(value) {
      for (const each of formsOf(value)) if (values.delete(each)) matcher = undefined
    },
    text,
    cut: (given, most, keep) => cutText(text(given), most, keep),
    json<T>(value: T): T {
      return isClean(JSON.stringify(value) ?? '') ? value : (json(value) as T)
    },
    jsonText(value) {
      const printed = JSON.stringify(value)
      return isClean(printed) ? printed : JSON.stringify(json(value))
    },
    stream() {
      let held = ''
      return {
        push(piece) {
          if (values.size === 0) return piece
          const { shown, rest } = scan(held + piece, true)
          held = rest
          return shown
        },
        end(isCut = false) {
          const rest = text(held)
          held = ''
          return isCut && rest.length > SHOWN_OF_A_PART ? MASK : rest
        },
      }
    },
  }
}

const MASK = '***'

/** A value that was read from a file often ends with a newline, which no header keeps: whoever says the value says it without. */
const formsOf = (value: string): readonly string[] => [value, value.trim()]

interface ScannedText {
  readonly shown: string
  /** Behind it: what may be the beginning of a value; empty unless the text is open-ended. */
  readonly rest: string
  readonly hasFound: boolean
}

/** Replaces each stretch of values that overlap or begin each other as one, so that none shows its rest behind another. */
function scanText(matcher: SpellingMatcher, text: string, isOpenEnded: boolean): ScannedText {
  let shown = ''
  let hasFound = false
  /** Up to here the text is in `shown`. */
  let done = 0
  /** The stretch under way; empty where none is. */
  let [start, end] = [0, 0]
  const close = (): void => {
    if (end <= start) return
    shown += text.slice(done, start) + MASK
    hasFound = true
    done = end
    start = end
  }
  for (let at = 0; at < text.length; at++) {
    if (at >= end) close()
    const match = matcher.matchAt(text, at)
    if (!match) continue
    if (isOpenEnded && match.isPartial) {
      const from = at < end ? start : at
      return { shown: shown + text.slice(done, from), rest: text.slice(from), hasFound }
    }
    if (match.end === undefined) continue
    if (at >= end) start = at
    end = Math.max(end, match.end)
  }
  close()
  return { shown: shown + text.slice(done), rest: '', hasFound }
}
