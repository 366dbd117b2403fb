/** Where runs are kept: `--store` and `SVC_STORE`. Its address may hold a password, so no message repeats it. */
import { usageFailure } from '../shell/usage-failure.ts'

/**
 * @returns the address of a PostgreSQL database; undefined for the database of the data directory
 * @throws Failure `usage`
 */
export function readStoreUrl(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text === 'sqlite:') return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPostgres = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:'
  if (isPostgres && url.pathname.length > 1 && url.hash === '') return text
  const why = isPostgres
    ? 'names no database, or has a character that must be written with a percent sign'
    : 'is no address of PostgreSQL'
  throw usageFailure(
    `What --store or SVC_STORE says ${why}.`,
    'postgres://user:password@host:5432/database, or sqlite: for the data directory',
  )
}
