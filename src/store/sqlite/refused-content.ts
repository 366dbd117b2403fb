import { fail } from '../../base/failure.ts'

/** Error codes of SQLite that are caused by the written content, not by the disk or another process. */
const CONTENT_ERROR = /^SQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH|RANGE)/

/**
 * Runs a write and distinguishes refused content, which no retry can fix, from errors of the disk or of another process.
 * @throws Failure `state_not_saved` when the content is refused
 */
export function reportRefusedContent<T>(write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (isContentError(error)) throw fail('state_not_saved', { why: (error as Error).message }, { cause: error })
    throw error
  }
}

// A text that is too long for JavaScript or SQLite is a RangeError; a value that cannot be bound is a TypeError.
const isContentError = (error: unknown): boolean =>
  error instanceof RangeError ||
  error instanceof TypeError ||
  (error instanceof Error && 'code' in error && typeof error.code === 'string' && CONTENT_ERROR.test(error.code))
