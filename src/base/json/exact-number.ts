/** Detects numbers that would change when they are parsed. Source: docs/design/http.md#ids-and-numbers */
import { pointerTo } from './pointer.ts'

/** A number that cannot be represented exactly. The message names its location and the remedy. */
export class InexactNumberError extends SyntaxError {
  override readonly name = 'InexactNumberError'
  /** JSON pointer of the number. */
  readonly pointer: string
  readonly written: string
  constructor(pointer: string, written: string) {
    super(`the number ${shorten(written)}${pointer === '' ? '' : ` at ${pointer}`} ${INEXACT}`)
    this.pointer = pointer
    this.written = written
  }
}

const INEXACT = 'cannot be kept exactly: numbers have at most 17 digits and go to 9007199254740991; write it as text'

/** The message without the location, for lists that have it in another field. */
export const describeInexactNumber = (written: string | number): string =>
  `is the number ${shorten(String(written))}, which ${INEXACT}`

// oxlint-disable-next-line typescript/no-deprecated -- A number has no pairs.
const shorten = (written: string): string => (written.length > 40 ? `${written.slice(0, 40)}…` : written)

/**
 * True for a number that parsing does not change: at most 2^53 - 1 in absolute value and, if written in decimal, the same when
 * printed again with as many digits as were written.
 */
export function isExactNumber(written: string): boolean {
  const value = Number(written)
  if (!isSafeNumber(value)) return false
  if (String(value) === written || !DECIMAL.test(written)) return true
  const { digits, exponent } = partsOf(written)
  if (digits === '') return true
  // `toPrecision` prints no more digits to compare.
  if (value === 0 || digits.length > 100) return false
  // If two decimals are equally near to the number, its shortest form may be the other one.
  return [String(value), value.toPrecision(digits.length)].some((printed) => {
    const again = partsOf(printed)
    return again.digits === digits && again.exponent === exponent
  })
}

/** False for numbers that share their representation with neighbours, and for infinities. */
export const isSafeNumber = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER

const DECIMAL = /^[-+]?(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/

/** A decimal number as `0.digits * 10^exponent`, without zeros at either end of its digits. */
function partsOf(written: string): { readonly digits: string; readonly exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(written) ?? []
  const all = whole + fraction
  const digits = all.replace(/^0+/, '')
  return {
    digits: digits.replace(/0+$/, ''),
    exponent: whole.length - (all.length - digits.length) + Number(exponent),
  }
}

/** Matches texts that may have an inexact number: one with a long number or an exponent. */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/

/** @throws InexactNumberError for the first number of a JSON text that cannot be represented exactly */
export function refuseInexactNumbers(text: string): void {
  const found = findInexactNumber(text, 0)
  if (found) throw new InexactNumberError(pointerAt(text, found.at), text.slice(found.at, found.end))
}

/** A JSON text in which each number that cannot be represented exactly is a text of the same digits. */
export function quoteInexactNumbers(text: string): string {
  let quoted = ''
  let from = 0
  for (let found; (found = findInexactNumber(text, from)); from = found.end)
    quoted += `${text.slice(from, found.at)}"${text.slice(found.at, found.end)}"`
  return quoted + text.slice(from)
}

/** @param from an offset between two values */
function findInexactNumber(text: string, from: number): { readonly at: number; readonly end: number } | undefined {
  if (from === 0 && !MAY_BE_INEXACT.test(text)) return undefined
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at)
      // Up to fifteen digits are always exact.
      if ((end - at > 15 || !isPlain(text, at, end)) && !isExactNumber(text.slice(at, end))) return { at, end }
      at = end - 1
    }
  }
  return undefined
}

interface UnsafeNumber {
  /** JSON pointer of the number. */
  readonly pointer: string
  readonly value: number
}

/** The first number of a value parsed elsewhere that may differ from what was written; undefined if there is none. */
export function unsafeNumberIn(value: unknown): UnsafeNumber | undefined {
  if (typeof value === 'number') return isSafeNumber(value) ? undefined : { pointer: '', value }
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = unsafeNumberIn(value[at])
      if (found) return within(String(at), found)
    }
  } else
    for (const key in value) {
      const found = unsafeNumberIn((value as Readonly<Record<string, unknown>>)[key])
      if (found) return within(key, found)
    }
  return undefined
}

/** Pointers are built on the way back, so that a value without such a number costs no text. */
const within = (key: string, { pointer, value }: UnsafeNumber): UnsafeNumber => ({
  pointer: pointerTo('', key) + pointer,
  value,
})

const [QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x2b, 0x2e, 0x30, 0x39]

/** Offset of the closing quote of the string that starts at `from`. */
function endOfText(text: string, from: number): number {
  let at = from + 1
  for (; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
  return at
}

function endOfNumber(text: string, from: number): number {
  let at = from + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isPart =
      (code >= ZERO && code <= NINE) ||
      code === POINT ||
      code === PLUS ||
      code === MINUS ||
      code === 0x65 ||
      code === 0x45
    if (!isPart) break
  }
  return at
}

function isPlain(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if ((text.charCodeAt(at) | 0x20) === 0x65) return false
  return true
}

/** JSON pointer of the value at an offset of a JSON text. */
function pointerAt(text: string, offset: number): string {
  const path: (string | number)[] = []
  let key = ''
  for (let at = 0; at < offset; at++) {
    const char = text.charAt(at)
    if (char === '"') {
      const end = endOfText(text, at)
      key = text.slice(at, end + 1)
      at = end
    } else if (char === ':') path[path.length - 1] = JSON.parse(key) as string
    else if (char === '[') path.push(0)
    else if (char === '{') path.push('')
    else if (char === ']' || char === '}') path.pop()
    else if (char === ',' && typeof path.at(-1) === 'number') path[path.length - 1] = (path.at(-1) as number) + 1
  }
  return path.reduce<string>(pointerTo, '')
}
