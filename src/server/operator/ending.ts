import { fail } from '../../base/failure.ts'

/** The end of an id as the store searches for it: hexadecimal digits without dashes. */
export function toEnding(text: string): string {
  const digits = text.replaceAll('-', '').toLowerCase()
  if (/^[0-9a-f]{1,32}$/.test(digits)) return digits
  throw fail(
    'validation_failed',
    { what: 'The query is not valid.' },
    { details: [{ path: '/ending', message: 'must be the hexadecimal end of an id' }] },
  )
}
