import { fail } from '../../base/failure.ts'

/** Codes of SQLite that speak of what is written, not of the disk or of another process. */
const CONTENT = /^SQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH|RANGE)/

/**
 * Does a write of which a repetition could succeed only where the store was at fault.
 * @throws Failure `state_not_saved` where the content was refused, and would be every time
 */
export function refusingContent<T>(write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (isContentError(error)) throw fail('state_not_saved', { why: (error as Error).message }, { cause: error })
    throw error
  }
}

// Texts that are too long for JavaScript or for SQLite are range errors; values that cannot be bound are type errors.
const isContentError = (error: unknown): boolean =>
  error instanceof RangeError ||
  error instanceof TypeError ||
  (error instanceof Error && 'code' in error && typeof error.code === 'string' && CONTENT.test(error.code))
