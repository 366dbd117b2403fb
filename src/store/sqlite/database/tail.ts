/** The last group of a UUID, which is random; the first ones are its time and alike for neighbours. */
const DIGITS = 12

/** The end of an id backwards, so that "ends with" becomes "begins with", which an index can answer. */
export const tailOf = (id: string): string => backwards(id.replaceAll('-', '')).slice(0, DIGITS)

/** Bounds of `tail` for an ending, and the ending itself to compare what is longer than a tail. */
export function endingRange(ending: string): { readonly from: string; readonly to: string; readonly ending: string } {
  const digits = ending.replaceAll('-', '').toLowerCase()
  const from = backwards(digits).slice(0, DIGITS)
  // `~` sorts after every hexadecimal digit.
  return { from, to: `${from}~`, ending: digits }
}

const backwards = (text: string): string => Array.from(text).reverse().join('')
