/** Exact decimal numbers as text, for money. */

/** Decimals that are kept. A price per million tokens has at most 9, so the price of one token has at most 15. */
const SCALE = 15

const FORM = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/

/** A decimal in units of 10^-15. */
export type ScaledDecimal = bigint

/** Reads digits with an optional fraction, such as `0.0031`; undefined for any other text. */
export function readDecimal(text: string): ScaledDecimal | undefined {
  if (!FORM.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(SCALE, '0'))
}

/** The shortest text of a decimal that is not negative: `0.0031`, never `3.1e-3` or `0.00310`. */
export function formatDecimal(value: ScaledDecimal): string {
  const digits = value.toString().padStart(SCALE + 1, '0')
  const fraction = digits.slice(-SCALE).replace(/0+$/, '')
  return digits.slice(0, -SCALE) + (fraction === '' ? '' : `.${fraction}`)
}

/** Adds two decimals of our own making. */
export const addDecimals = (a: string, b: string): string => formatDecimal(toScaled(a) + toScaled(b))

/** For text that `formatDecimal` wrote. Sums may have more digits than `readDecimal` accepts. */
export function toScaled(text: string): ScaledDecimal {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(SCALE, '0'))
}
