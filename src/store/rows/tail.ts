/** Length of the last group of a UUID, which is random. The first groups encode the time, so ids made together share them. */
const DIGITS = 12

/** The end of an id reversed, so that "ends with" becomes "begins with", which an index can answer. */
export const tailOf = (id: string): string => reverse(id.replaceAll('-', '')).slice(0, DIGITS)

/** Range of the `tail` column for an ending, and the ending itself, since it may be longer than a tail. */
export function endingRange(ending: string): { readonly from: string; readonly to: string; readonly ending: string } {
  const digits = ending.replaceAll('-', '').toLowerCase()
  const from = reverse(digits).slice(0, DIGITS)
  // `~` sorts after every hexadecimal digit.
  return { from, to: `${from}~`, ending: digits }
}

const reverse = (text: string): string => Array.from(text).reverse().join('')
