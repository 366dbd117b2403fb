/** Failures for databases whose schema this program cannot bring to its own, in the words of both stores. */
import { fail, type Failure } from '../base/failure.ts'

export const refuseNewer = (file: string, found: number, newest: number): Failure =>
  fail(
    'store_unreadable',
    { file, why: `a newer svc wrote it (schema ${found}, this one knows ${newest})` },
    { fix: 'Use that version of svc, or a newer one.' },
  )

/** Nothing of it is changed or deleted. */
export const refuseUnreleased = (file: string, found: number): Failure =>
  fail(
    'store_unreadable',
    { file, why: `a development version from before the first release of svc wrote it (schema ${found})` },
    { fix: 'Use the svc that wrote it, or name another data directory or database: publish and deploy there again.' },
  )
