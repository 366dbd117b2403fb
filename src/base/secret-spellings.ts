/**
 * Finds a value in text however it is spelled there: JSON escapes, percent escapes, HTML entities and `+` for a space, also
 * escaped again and mixed; base64 and base64url, at any alignment; hexadecimal.
 */
import { getOrInsert } from './values/collections.ts'

/** Something to find. `fold` makes characters equal that spell the same. */
interface Needle {
  readonly units: string
  readonly fold: (unit: string) => string
}

/** Where a value stands in a text: it ends before `end`, or the text ends within it. */
export interface SpelledMatch {
  readonly end: number | undefined
  readonly isPartial: boolean
}

export interface SpellingMatcher {
  /** The longest value that begins at this place. Undefined where none does, and none can that is cut off by the end. */
  matchAt(text: string, at: number): SpelledMatch | undefined
}

export function createSpellingMatcher(values: Iterable<string>): SpellingMatcher {
  const byFirst = new Map<string, Needle[]>()
  for (const needle of [...values].flatMap(needlesOf))
    for (const first of firstUnitsOf(needle)) getOrInsert(byFirst, first, () => []).push(needle)
  const all = [...new Set([...byFirst.values()].flat())]
  const needlesSpelledAt = (text: string, at: number): readonly Needle[] => {
    if (isUnfinishedAt(text, at)) return all
    const firsts = [text.charAt(at), ...spellingsAt(text, at).map(([spelled]) => spelled.charAt(0))]
    return firsts.flatMap((first) => byFirst.get(first) ?? [])
  }
  return {
    matchAt(text, at) {
      const first = text.charAt(at)
      const needles = INTRODUCERS.has(first) ? needlesSpelledAt(text, at) : byFirst.get(first)
      if (!needles) return undefined
      const second = text[at + 1]
      const isPlain = second !== undefined && !INTRODUCERS.has(first) && !INTRODUCERS.has(second)
      let end: number | undefined
      let isPartial = false
      for (const needle of needles) {
        // Most places fail here.
        if (isPlain && needle.fold(second) !== needle.units[1]) continue
        const found = follow(needle, text, at)
        if (found.end !== undefined) end = Math.max(end ?? 0, found.end)
        isPartial ||= found.isPartial
      }
      return end === undefined && !isPartial ? undefined : { end, isPartial }
    },
  }
}

const firstUnitsOf = ({ units, fold }: Needle): ReadonlySet<string> =>
  new Set([units.charAt(0), ...SAME.filter((each) => fold(each) === units[0])])

/** Letters in either case, and the characters in which base64 and base64url differ. */
const SAME = Array.from('abcdefABCDEF+/-_')

const same = (unit: string): string => unit
function foldBase64(unit: string): string {
  if (unit === '-') return '+'
  return unit === '_' ? '/' : unit
}
const foldHex = (unit: string): string => (unit >= 'A' && unit <= 'F' ? unit.toLowerCase() : unit)

function needlesOf(value: string): Needle[] {
  const bytes = Buffer.from(value, 'utf8')
  const asNumber = /^\d+$/.test(value) ? String(Number(value)) : value
  return [
    { units: value, fold: same },
    ...(asNumber !== value && asNumber.length > 4 ? [{ units: asNumber, fold: same }] : []),
    ...[0, 1, 2].flatMap((offset) =>
      [...new Set(base64At(bytes, offset))].map((units) => ({ units, fold: foldBase64 })),
    ),
    { units: bytes.toString('hex'), fold: foldHex },
  ]
}

/**
 * The characters of base64 that the bytes alone determine, where they begin at this offset within three: with others behind
 * them, and where they are the last.
 */
function base64At(bytes: Buffer, offset: number): readonly string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const start = Math.ceil((offset * 8) / 6)
  return [text.slice(start, Math.floor(((offset + bytes.length) * 8) / 6)), text.slice(start).replace(/=+$/, '')]
}

/** Characters that may begin another spelling of a character. */
const INTRODUCERS = new Set(['\\', '%', '&', '+', '\r'])

/** Longest escape that is looked at: backslashes double with each level. */
const LONGEST_ESCAPE = 64

/** Backslashes, `%25` and `&amp;` double or repeat with each level of escapes: more levels than this are not looked at. */
const BACKSLASHES = /\\{1,31}/y
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
const ENTITY = /&(?:amp;){0,4}(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/iy
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const PERCENT = /(?:%(?:25){0,4}[\da-f]{2}){1,4}/iy
const UNFINISHED =
  /^(?:\\{1,31}(?:u[\da-f]{0,3})?|(?:%(?:25){0,4}[\da-f]{2}){0,3}%(?:25){0,4}[\da-f]{0,2}|&(?:amp;){0,4}(?:#?\w{0,7})|\r)$/i

/** Goes through a needle and the text side by side, along every spelling that fits. */
function follow(needle: Needle, text: string, start: number): SpelledMatch {
  let end: number | undefined
  let isPartial = false
  const open: (readonly [index: number, at: number])[] = [[0, start]]
  const seen = new Set<number>()
  for (let next = open.pop(); next; next = open.pop()) {
    let [index, at] = next
    for (;;) {
      if (index === needle.units.length) {
        end = Math.max(end ?? 0, at)
        break
      }
      if (at >= text.length) {
        isPartial = true
        break
      }
      const unit = text.charAt(at)
      if (INTRODUCERS.has(unit)) {
        const key = index * (text.length + 1) + at
        if (seen.has(key)) break
        seen.add(key)
        for (const [spelled, to] of spellingsAt(text, at))
          if (isAt(needle, index, spelled)) open.push([index + spelled.length, to])
          // The line ends of a file may have changed.
          else if (spelled === '\r' && needle.units[index] === '\n') open.push([index, to])
        if (isUnfinishedAt(text, at)) isPartial = true
      }
      if (needle.fold(unit) !== needle.units[index]) break
      index++
      at++
    }
  }
  return { end, isPartial }
}

/** True where the text ends within an escape. */
const isUnfinishedAt = (text: string, at: number): boolean =>
  text.length - at <= LONGEST_ESCAPE && UNFINISHED.test(text.slice(at))

const isAt = (needle: Needle, index: number, spelled: string): boolean => {
  for (let each = 0; each < spelled.length; each++)
    if (needle.fold(spelled.charAt(each)) !== needle.units[index + each]) return false
  return true
}

/** What the text at this place may spell, and where it goes on. */
function spellingsAt(text: string, at: number): (readonly [spelled: string, to: number])[] {
  switch (text[at]) {
    case '+':
      return [[' ', at + 1]]
    case '\r':
      return [['\r', at + 1]]
    case '&': {
      const [found, decimal, hexadecimal, name] = matchAt(ENTITY, text, at) ?? []
      if (found === undefined) return []
      const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hexadecimal ?? '0', 16)
      const spelled = ENTITIES[name?.toLowerCase() ?? ''] ?? toCharacter(code)
      const sign: readonly (readonly [string, number])[] = text.startsWith('&amp;', at) ? [['&', at + 5]] : []
      return [[spelled, at + found.length], ...sign]
    }
    case '%':
      return percentSpellings(text, at)
    default:
      return backslashSpellings(text, at)
  }
}

function percentSpellings(text: string, at: number): (readonly [string, number])[] {
  const run = matchAt(PERCENT, text, at)?.[0]
  if (run === undefined) return []
  const escapes = run.match(/%(?:25){0,4}[\da-f]{2}/gi) ?? []
  const bytes = Buffer.from(escapes.map((each) => each.slice(-2)).join(''), 'hex')
  const used = escapes.slice(0, lengthOfCharacter(bytes))
  // `%25` is a percent sign, and `%2541` that of a longer escape.
  const levels = (run.match(/^%(?:25){0,5}/)?.[0].length ?? 1) >> 1
  const signs = Array.from({ length: levels }, (_, level) => ['%', at + 3 + 2 * level] as const)
  return [[bytes.toString('utf8', 0, used.length), at + used.join('').length], ...signs]
}

/** How many bytes the first one of UTF-8 announces. */
function lengthOfCharacter([first = 0]: Uint8Array): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

function backslashSpellings(text: string, at: number): (readonly [string, number])[] {
  const run = matchAt(BACKSLASHES, text, at)?.[0].length ?? 0
  const behind = at + run
  const escaped = text[behind] ?? ''
  const code = escaped === 'u' ? text.slice(behind + 1, behind + 5) : ''
  const doubled = [2, 4, 8, 16].filter((length) => length <= run).map((length) => ['\\', at + length] as const)
  if (/^[\da-f]{4}$/i.test(code)) return [...doubled, [String.fromCharCode(Number.parseInt(code, 16)), behind + 5]]
  const control = CONTROLS[escaped]
  if (control !== undefined) return [...doubled, [control, behind + 1]]
  return `/"'`.includes(escaped) && escaped !== '' ? [...doubled, [escaped, behind + 1]] : doubled
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const toCharacter = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')
