/** Classifies errors of PostgreSQL: refused content, no connection, no room, or a conflict that another attempt solves. */
import { fail, isFailure, type Failure } from '../../../base/failure.ts'

/** Time for somebody to free disk space, and for a database to come back. */
const FULL_RETRY_SECONDS = 30
const UNREACHABLE_RETRY_SECONDS = 2

interface ServerError extends Error {
  readonly severity: string
  /** SQLSTATE. */
  readonly code: string
  readonly constraint?: string
  readonly detail?: string
}

/** An error that the server reported; all others come from the connection or from our own code. */
export const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'

export const hasState = (error: unknown, ...states: readonly string[]): boolean =>
  isServerError(error) && states.some((state) => error.code.startsWith(state))

/** Deadlock or conflict: nothing is stored, and the next attempt may succeed. */
export const isConflict = (error: unknown): boolean => hasState(error, '40001', '40P01')

/** No connection of this process became free in time: `pg` has no code for it. */
const isPoolExhausted = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect'

/** The server has no connection left. */
export const isOutOfConnections = (error: unknown): boolean => hasState(error, '53300')

/** The server lacked a connection, memory, time or a lock: nothing is stored, and another statement now would fail too. */
export const isOverloaded = (error: unknown): boolean =>
  isPoolExhausted(error) || hasState(error, '53', '55P03', '57014')

/** A new connection writes a file; if that fails, the server says only that it failed. */
const isFullAtConnect = (error: unknown): boolean =>
  hasState(error, 'XX000') && (error as ServerError).message === 'could not write init file'

/** Values or constraints: another attempt would be refused as well. */
export const isContentError = (error: unknown): boolean =>
  hasState(error, '22', '23', '54') || error instanceof RangeError || error instanceof TypeError

/** Says that the store was closed. */
export const NOT_OPEN = 'The store is not open.'

/** The server refused a connection, or ended it. */
const isFatal = (error: unknown): boolean => isServerError(error) && error.severity === 'FATAL'

/** The connection ended, so that nobody knows whether the statement was committed. */
export const isLostConnection = (error: unknown): boolean =>
  hasState(error, '08', '57P01', '57P02', '57P05') ||
  (error instanceof Error &&
    !isServerError(error) &&
    !isFailure(error) &&
    !isPoolExhausted(error) &&
    !isContentError(error) &&
    error.message !== NOT_OPEN)

/** The failure that callers get: `storage_full`, `store_busy`, `store_unreachable`, or the error itself. */
export function toStoreFailure(error: unknown, database: string): unknown {
  if (hasState(error, '53100', '53400') || isFullAtConnect(error))
    return fail('storage_full', undefined, { cause: error, retryAfterSeconds: FULL_RETRY_SECONDS })
  if (isOverloaded(error) || isConflict(error)) {
    const why = isPoolExhausted(error) ? 'every connection of this process is in use' : reasonOf(error)
    return fail('store_busy', { database, why }, { cause: error, retryAfterSeconds: UNREACHABLE_RETRY_SECONDS })
  }
  // Also a wrong password or name, starting up, or read-only after a fail-over; and whatever else ended the connection or refused it.
  if (isLostConnection(error) || hasState(error, '28', '3D000', '57P03', '25006') || isFatal(error))
    return storeUnreachable(database, error)
  if (hasState(error, '42501'))
    return fail('store_rights_missing', { database, why: reasonOf(error) }, { cause: error })
  return error
}

export const storeUnreachable = (database: string, cause: unknown): Failure =>
  fail(
    'store_unreachable',
    { database, why: reasonOf(cause) },
    {
      cause,
      retryAfterSeconds: UNREACHABLE_RETRY_SECONDS,
      fix: remedyOf(cause),
    },
  )

/** What helps, where it is not that of most. */
function remedyOf(cause: unknown): string | undefined {
  if (hasState(cause, '3D000')) return 'Create the database with createdb, or name another one.'
  if (hasState(cause, '25006'))
    return 'Name the primary server, not a replica; or, where its user only reads: alter role USER set default_transaction_read_only = off.'
  if (!(cause instanceof Error)) return undefined
  const { code = '', path } = cause as NodeJS.ErrnoException
  if (cause.message.includes('startup parameter'))
    return 'A pooler refuses our settings: name the address of PostgreSQL itself, or let the pooler ignore them (ignore_startup_parameters = options).'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'Name the server as its certificate does.'
  if (code.includes('CERT') || code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    return 'Name the certificate of the authority of the server in the address: sslmode=verify-full&sslrootcert=/path/ca.pem.'
  if (path !== undefined && code === 'ENOENT' && !path.includes('.s.PGSQL.'))
    return 'Put the file there that the address names (sslrootcert, sslcert or sslkey).'
  return undefined
}

/** The first reason of several failed attempts to connect, for example to both addresses of a name. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (error instanceof Error && error.message.includes('client password must be'))
    return 'it asks for a password, and none was given'
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
}
