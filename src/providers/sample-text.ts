import type { JsonObject } from '../base/json/json.ts'
import { loadRe2 } from '../base/pattern/re2.ts'

/** A sample of each format, and a pattern that recognises texts of the input in that format. */
const FORMATS: Readonly<Record<string, readonly [sample: string, shape: RegExp]>> = {
  date: ['2026-01-01', /^\d{4}-\d\d-\d\d$/],
  time: ['00:00:00Z', /^\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/],
  'date-time': ['2026-01-01T00:00:00Z', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/],
  duration: ['P1D', /^P\d+[YMWD]$/],
  email: ['someone@example.com', /^[\w.+-]+@[\w-]+(\.[\w-]+)+$/],
  hostname: ['example.com', /^[a-z\d-]+(\.[a-z\d-]+)*$/i],
  ipv4: ['192.0.2.1', /^(\d{1,2}\.){3}\d{1,2}$/],
  ipv6: ['2001:db8::1', /^2001:db8::1$/],
  uri: ['https://example.com/', /^https?:\/\/[\w.:-]+(\/[\w./~-]*)?$/],
  'uri-reference': ['https://example.com/', /^https?:\/\/[\w.:-]+(\/[\w./~-]*)?$/],
  url: ['https://example.com/', /^https?:\/\/[\w.:-]+(\/[\w./~-]*)?$/],
  uuid: ['00000000-0000-4000-8000-000000000000', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i],
  'json-pointer': ['/example', /^(\/\w+)+$/],
}

/** Whether a text has the required pattern and format; false for a format or pattern that is not supported here. */
export function fitsText({ pattern, format }: JsonObject, text: string): boolean {
  if (typeof format === 'string' && !FORMATS[format]?.[1].test(text)) return false
  if (typeof pattern !== 'string') return true
  try {
    return loadRe2().compile(pattern).matcher(text).find()
  } catch {
    return false
  }
}

/**
 * A text that fits `pattern`, else `format`, else the bounds of length; the property's name when any text fits. Undefined when
 * the pattern uses syntax that is not supported here.
 */
export function sampleText(schema: JsonObject, name: string | undefined): string | undefined {
  const { pattern, format, minLength, maxLength } = schema
  const least = typeof minLength === 'number' ? minLength : 0
  const most = typeof maxLength === 'number' ? maxLength : Infinity
  if (typeof pattern === 'string') {
    const text = buildFromPattern(pattern, least)
    return text !== undefined && text.length <= most ? text : undefined
  }
  if (typeof format === 'string' && FORMATS[format] !== undefined) return FORMATS[format][0]
  const text = name ?? 'example'
  return text.padEnd(least, 'x').slice(0, most)
}

/** The shortest text that a simple pattern allows, with repetitions extended to reach the length `least`. */
function buildFromPattern(pattern: string, least: number): string | undefined {
  for (const extra of [0, 1, least, least * 2]) {
    const text = new PatternReader(pattern, extra).read()
    if (text === undefined) return undefined
    const filled = pattern.endsWith('$') ? text : text.padEnd(least, 'x')
    if (filled.length >= least && isMatch(pattern, filled)) return filled
  }
  return undefined
}

function isMatch(pattern: string, text: string): boolean {
  try {
    // The text was built from the pattern and is short, so catastrophic backtracking cannot occur.
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return false
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  d: '0',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  t: '\t',
  n: '\n',
  b: '',
  B: '',
}
const CANDIDATES = 'aA0-_ .@/:bBzZ19x'

/** Reads a regular expression from left to right and builds the first text that it allows. */
class PatternReader {
  #at = 0
  readonly #pattern: string
  /** Extra repetitions of an unbounded quantifier beyond its minimum. */
  readonly #extra: number
  constructor(pattern: string, extra: number) {
    this.#pattern = pattern
    this.#extra = extra
  }

  read(): string | undefined {
    const text = this.#choice()
    return this.#at === this.#pattern.length ? text : undefined
  }

  /** Builds the first alternative and skips the others. */
  #choice(): string | undefined {
    const first = this.#sequence()
    while (this.#pattern[this.#at] === '|') {
      this.#at++
      this.#sequence()
    }
    return first
  }

  #sequence(): string | undefined {
    let text: string | undefined = ''
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern.charAt(this.#at))) {
      const atom = this.#atom()
      const times = this.#times()
      text = text === undefined || atom === undefined ? undefined : text + atom.repeat(times)
    }
    return text
  }

  #atom(): string | undefined {
    const character = this.#pattern.charAt(this.#at++)
    if (character === '^' || character === '$') return ''
    if (character === '.') return 'a'
    if (character === '[') return this.#set()
    if (character === '\\') {
      const escaped = this.#pattern[this.#at++] ?? ''
      if (/[pPuxck0-9]/.test(escaped)) return undefined
      return CLASSES[escaped] ?? escaped
    }
    if (character !== '(') return character
    if (this.#pattern[this.#at] === '?') {
      const named = /^\?(?::|<[A-Za-z_]\w*>)/.exec(this.#pattern.slice(this.#at))
      if (!named) this.#at = this.#pattern.length + 1
      else this.#at += named[0].length
    }
    const inner = this.#choice()
    this.#at++
    return inner
  }

  #set(): string | undefined {
    const end = /^(?:\\.|[^\]\\])*\]/.exec(this.#pattern.slice(this.#at))
    if (!end) return undefined
    const source = `[${end[0]}`
    this.#at += end[0].length
    const first = /^\[([^\\^\]])/.exec(source)?.[1]
    try {
      const pattern = new RegExp(`^${source}$`, 'u')
      return `${first ?? ''}${CANDIDATES}`.split('').find((each) => pattern.test(each))
    } catch {
      return undefined
    }
  }

  #times(): number {
    const quantifier = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.#pattern.slice(this.#at))
    if (!quantifier) return 1
    this.#at += quantifier[0].length
    const [, sign, least, comma, most] = quantifier
    if (sign === '?') return 0
    if (sign !== undefined) return (sign === '+' ? 1 : 0) + this.#extra
    const floor = Number(least)
    if (comma === '') return floor
    return Math.min(floor + this.#extra, most === '' ? Infinity : Number(most))
  }
}
