/** Where runs are kept: `--store` and `SVC_STORE`. Its address may hold a password, so no message repeats it. */
import { parseCertainAddress } from '../../base/net/show-address.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/**
 * @returns the address of a PostgreSQL database; undefined for the database of the data directory
 * @throws Failure `usage`
 */
export function readStoreUrl(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text === 'sqlite:') return undefined
  if (POSTGRES.test(text) && SEVERAL_HOSTS.test(text))
    throw usageFailure(
      'What --store or SVC_STORE says names several hosts, and svc takes one.',
      'Name one that always leads to the primary server, such as the address of the cluster or a balancer.',
    )
  const url = parseCertainAddress(text)
  if (url && POSTGRES.test(url.protocol) && /^\/[^/]+$/.test(url.pathname) && url.hash === '') return text
  const why = POSTGRES.test(text)
    ? 'names no database, or has a character that must be written with a percent sign'
    : 'is no address of PostgreSQL'
  throw usageFailure(
    `What --store or SVC_STORE says ${why}.`,
    'postgres://user:password@host:5432/database, or sqlite: for the data directory',
  )
}

/** A comma in the place of the host, or in the parameter: libpq tries each, and `pg` would look for one with such a name. */
const SEVERAL_HOSTS = /^[a-z]+:\/\/(?:[^/?#@]*@)?[^/?#@]*,[^/?#@]*(?:[/?#][^@]*)?$|[?&]host=[^&]*(?:,|%2c)/i

const POSTGRES = /^postgres(?:ql)?:/i
