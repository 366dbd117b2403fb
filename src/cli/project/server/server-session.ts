/**
 * Where `svc login` keeps the session of a person with a server: a file each below the user's configuration, which only its owner may
 * read. Source: docs/design/command-line.md#settings
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { hashKey, hashOfCommandCredential } from '../../../base/api-key.ts'
import { isJsonObject, parseJsonIfAny } from '../../../base/json/json.ts'
import { isLoopback } from '../../../base/net/loopback.ts'
import { replacePrivateFile } from '../../../base/files/private-file.ts'
import { readTextIfAny, statIfAny } from '../../../base/files/sync-files.ts'
import { userDirectory } from '../user-config.ts'
import type { Io } from '../../shell/io.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export interface ServerSession {
  /** Origin of its operator listener. */
  readonly server: string
  readonly operator: string
  readonly credential: string
  /** ISO 8601. */
  readonly endsAt: string | null
}

/** Undefined for what is no address to which a credential may be sent. */
export function originOfServer(address: string): string | undefined {
  const url = parseUrl(address)
  if (url === undefined) return undefined
  const { protocol, hostname, origin } = url
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) ? origin : undefined
}

/** Of the digest of the address: enough that two servers of one person differ. */
const DIGITS = 16

const fileOf = (server: string, env: Io['env']): string =>
  join(
    userDirectory(env),
    'sessions',
    `${new URL(server).hostname.replaceAll(/[^\w.-]/g, '_')}-${hashKey(server).slice(0, DIGITS)}.json`,
  )

/** @returns the path of its file */
export function keepServerSession(session: ServerSession, env: Io['env']): string {
  const path = fileOf(session.server, env)
  replacePrivateFile(path, `${JSON.stringify(session, undefined, 2)}\n`)
  return path
}

/** @throws Failure `usage` where others may read it */
export function readServerSession(server: string, env: Io['env']): ServerSession | undefined {
  const path = fileOf(server, env)
  const found = statIfAny(path)
  if (!found) return undefined
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw usageFailure(`${path} can be read by others.`, `chmod 600 ${path}`)
  const session = parseSession(readTextIfAny(path))
  return session?.server === server ? session : undefined
}

/** @returns false where there was none */
export function forgetServerSession(server: string, env: Io['env']): boolean {
  const path = fileOf(server, env)
  const wasThere = statIfAny(path) !== undefined
  rmSync(path, { force: true })
  return wasThere
}

function parseSession(text: string): ServerSession | undefined {
  const value = parseJsonIfAny(text)
  if (!isJsonObject(value)) return undefined
  const { server, operator, credential, endsAt } = value
  const isCredential = typeof credential === 'string' && hashOfCommandCredential(credential) !== undefined
  if (typeof server !== 'string' || typeof operator !== 'string' || !isCredential) return undefined
  return { server, operator, credential, endsAt: typeof endsAt === 'string' ? endsAt : null }
}
