/** Numbers as they are written, and what becomes of them. Source: decisions, section 1: numbers are never changed silently. */

/** A number that this process cannot keep as it was written. The message names its place and the remedy. */
export class InexactNumberError extends SyntaxError {
  override readonly name = 'InexactNumberError'
  /** JSON pointer of the number in the value that was read. */
  readonly pointer: string
  readonly written: string
  constructor(pointer: string, written: string) {
    super(`the number ${shorten(written)}${pointer === '' ? '' : ` at ${pointer}`} ${INEXACT}`)
    this.pointer = pointer
    this.written = written
  }
}

const INEXACT = 'cannot be kept exactly: numbers have at most 17 digits and go to 9007199254740991; write it as text'

/** The same without the place, for a list that names places. */
export const sayInexact = (written: string | number): string =>
  `is the number ${shorten(String(written))}, which ${INEXACT}`

const shorten = (written: string): string => (written.length > 40 ? `${written.slice(0, 40)}…` : written)

/**
 * True for a number that stays what it is: at most 2^53 - 1 in size and, where it is written in decimal, the same when it is
 * printed again with as many digits as it was written with.
 */
export function isExactNumber(written: string): boolean {
  const value = Number(written)
  if (!isSafeNumber(value)) return false
  if (String(value) === written || !DECIMAL.test(written)) return true
  const { digits, exponent } = partsOf(written)
  if (digits === '') return true
  // Beyond what `toPrecision` prints nobody can tell.
  if (value === 0 || digits.length > 100) return false
  // Where two texts are equally near to it, the shortest print may be the other.
  return [String(value), value.toPrecision(digits.length)].some((printed) => {
    const again = partsOf(printed)
    return again.digits === digits && again.exponent === exponent
  })
}

/** False for numbers whose neighbours would be taken for them, and for infinities. */
export const isSafeNumber = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER

const DECIMAL = /^[-+]?(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/

/** A decimal number as `0.digits * 10^exponent`, without zeros at either end of its digits. */
function partsOf(written: string): { readonly digits: string; readonly exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(written)!
  const all = whole + fraction
  const digits = all.replace(/^0+/, '')
  return {
    digits: digits.replace(/0+$/, ''),
    exponent: whole.length - (all.length - digits.length) + Number(exponent),
  }
}

/** A text without a long number and without an exponent has no number that is not exact. */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/

/** @throws InexactNumberError for the first number of a JSON text that cannot be kept */
export function refuseInexactNumbers(text: string): void {
  if (!MAY_BE_INEXACT.test(text)) return
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at)
      // Fifteen digits are always kept.
      if ((end - at > 15 || !isPlain(text, at, end)) && !isExactNumber(text.slice(at, end)))
        throw new InexactNumberError(pointerAt(text, at), text.slice(at, end))
      at = end - 1
    }
  }
}

/** The first number of a value that another reader has parsed which may be another than was written; undefined where none is. */
export function unsafeNumberIn(
  value: unknown,
  pointer = '',
): { readonly pointer: string; readonly value: number } | undefined {
  if (typeof value === 'number') return isSafeNumber(value) ? undefined : { pointer, value }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, each] of Object.entries(value)) {
    const found = typeof each === 'string' ? undefined : unsafeNumberIn(each, `${pointer}/${escapeKey(key)}`)
    if (found) return found
  }
  return undefined
}

const [QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x2b, 0x2e, 0x30, 0x39]

/** The offset of the quote that ends the text which begins at `from`. */
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

/** The JSON pointer of the value that begins at an offset of a JSON text. */
function pointerAt(text: string, offset: number): string {
  const path: (string | number)[] = []
  let key = ''
  for (let at = 0; at < offset; at++) {
    const char = text[at]!
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
  return path.map((each) => `/${escapeKey(String(each))}`).join('')
}

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
