/**
 * How a connection is asked for, and whether it is as we rely on. What svc relies on comes last, so that neither the address nor the role
 * decides about it; a pooler may take no settings at all, and pass a connection on to others between two statements.
 */
import { fail } from '../../../base/failure.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

/** After these times a statement or a lock is stuck, and the caller gets an error. */
export const STATEMENT_MS = 30_000
const LOCK_MS = 10_000

export interface ConnectionAddress {
  readonly connectionString: string
  /** Settings that the server is asked for. */
  readonly options: string
}

export function readConnectionAddress(url: string, schema: string): ConnectionAddress {
  const settings = [
    `search_path=${schema}`,
    `statement_timeout=${STATEMENT_MS}`,
    `lock_timeout=${LOCK_MS}`,
    `idle_in_transaction_session_timeout=${STATEMENT_MS}`,
    // The functions that save see what others committed while they waited for a lock.
    'default_transaction_isolation=read\\ committed',
    // Compiling the plans of short statements would not pay.
    'jit=off',
  ].map((each) => `-c ${each}`)
  const address = parseUrl(url)
  if (!address || address.search === '') return { connectionString: url, options: settings.join(' ') }
  const { searchParams } = address
  // Left in the address, they would replace ours.
  const others = searchParams.get('options')
  searchParams.delete('options')
  // What `pg` does for these is verify-full, and each time it says so on stderr.
  const mode = searchParams.get('sslmode') ?? ''
  if (['prefer', 'require', 'verify-ca'].includes(mode) && searchParams.get('uselibpqcompat') !== 'true')
    searchParams.set('sslmode', 'verify-full')
  // The word of libpq for the authorities of the system; without a file, those of Node are taken.
  if (searchParams.get('sslrootcert') === 'system') searchParams.delete('sslrootcert')
  return { connectionString: address.href, options: [...(others === null ? [] : [others]), ...settings].join(' ') }
}

export interface ConnectionFacts {
  /** Of the process that answered. */
  readonly pid: number
  readonly path: string
  readonly schema: string | null
  readonly isolation: string
  readonly encoding: string
  readonly user: string
  readonly name: string
}

export const CONNECTION_FACTS = `select pg_backend_pid() as pid, current_setting('search_path') as path,
  current_schema()::text as schema, current_setting('default_transaction_isolation') as isolation,
  current_setting('server_encoding') as encoding, current_user::text as user, current_database()::text as name`

/** @throws Failure `store_unreadable` where svc would read other tables, or store less than it was given */
export function checkConnection(database: string, schema: string, facts: ConnectionFacts): void {
  const { path, isolation, encoding, user, name } = facts
  const refuse = (why: string, fix: string) => fail('store_unreadable', { file: database, why }, { fix })
  if (encoding !== 'UTF8')
    throw refuse(
      `its encoding is ${encoding}, which cannot hold every text`,
      'Name a database made with createdb --encoding UTF8 --template template0.',
    )
  // Before the first migration, the schema is only named.
  const [first = ''] = path.split(',').map((each) => each.trim().replaceAll('"', ''))
  const wanted: string[] = []
  if (first !== schema && facts.schema !== schema) wanted.push(`search_path = ${schema}`)
  if (isolation !== 'read committed') wanted.push(`default_transaction_isolation = 'read committed'`)
  if (wanted.length === 0) return
  const sets = wanted.map((each) => `alter role "${user}" in database "${name}" set ${each};`)
  throw refuse(
    'a pooler before it passes no settings on',
    `Name the address of PostgreSQL itself, or: ${sets.join(' ')} then let the pooler open new connections.`,
  )
}
