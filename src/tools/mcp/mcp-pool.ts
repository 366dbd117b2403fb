/** Connections to MCP servers, one per agent version and server, shared by concurrent calls. */
import type { Clock } from '../../base/clock.ts'
import type { Redactor } from '../../base/secret.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { McpServer } from '../../spec/document.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { connectMcp, type McpConnection } from './mcp-connection.ts'
import { fetchWithCredentials } from './mcp-credentials.ts'
import type { McpLink } from './mcp-program.ts'
import type { McpPrograms } from './mcp-programs.ts'
import { createLoginTokens, type LoginStore } from '../oauth/login-tokens.ts'

/** A connection and the number of calls that use it. */
export interface PooledConnection {
  /** Agent digest and server name, or that of a program. */
  readonly key: string
  /** It is that of a program, which all agents share. One call that is called off does not end it. */
  readonly isProgram: boolean
  readonly opening: Promise<McpConnection>
  /** Aborts the opening. */
  readonly stop: AbortController
  isOpen: boolean
  users: number
}

export interface McpConnectionPool {
  /** The caller must release the connection. */
  acquire(agent: AgentSnapshot, server: McpServer): PooledConnection
  release(pooled: PooledConnection): void
  /** Removes a connection from the pool, so that no further call uses it. */
  drop(pooled: PooledConnection): void
  close(): Promise<void>
}

export interface McpPoolParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly redactor: Redactor
  readonly fetch: FetchFunction
  /** Sees the requests and answers of a program as those of `fetch`. */
  readonly track: (fetch: FetchFunction) => FetchFunction
  readonly clock: Clock
  readonly version: string
  readonly programs: McpPrograms
  readonly logins: LoginStore | undefined
}

/** Timeout of opening a connection, which several calls may wait for. */
const CONNECT_MS = 30_000

export function createMcpPool({
  env,
  redactor,
  fetch,
  track,
  clock,
  version,
  programs,
  logins: store,
}: McpPoolParts): McpConnectionPool {
  const logins = createLoginTokens({ logins: store, fetch, clock, redactor })
  const connections = new Map<string, PooledConnection>()

  const open = (key: string, agent: AgentSnapshot, server: McpServer): PooledConnection => {
    const program = programs.find(server)
    const link: McpLink = program?.open() ?? {
      fetch: fetchWithCredentials(agent, server, { env, redactor, fetch: track(fetch), clock, logins }),
      close: () => Promise.resolve(),
    }
    const tracked = program ? { ...link, fetch: track(link.fetch) } : link
    const stop = new AbortController()
    const opening = connectMcp(
      { server, link: tracked, version, redactor },
      program?.startMs ?? CONNECT_MS,
      stop.signal,
    )
    const pooled: PooledConnection = { key, isProgram: program !== undefined, opening, stop, isOpen: false, users: 0 }
    link.ended?.addEventListener('abort', () => dropEnded(pooled), { once: true })
    opening.then(
      () => (pooled.isOpen = true),
      () => drop(pooled),
    )
    connections.set(key, pooled)
    return pooled
  }
  const dropEnded = (pooled: PooledConnection): void => {
    drop(pooled)
    // Otherwise its last call closes it.
    if (pooled.users === 0) void closeConnection(pooled)
  }
  const drop = (pooled: PooledConnection): void => {
    if (connections.get(pooled.key) === pooled) connections.delete(pooled.key)
  }

  return {
    acquire(agent, server) {
      const key = programs.find(server)?.key ?? `${agent.digest} ${server.name}`
      const pooled = connections.get(key) ?? open(key, agent, server)
      pooled.users++
      return pooled
    },
    release(pooled) {
      pooled.users--
      // A handshake that is still running ends with the last call that waits for it; that of a program may take longer than a call.
      if (pooled.users === 0 && !pooled.isOpen && !pooled.isProgram) drop(pooled)
      // A dropped connection is closed by its last call.
      if (pooled.users === 0 && connections.get(pooled.key) !== pooled) void closeConnection(pooled)
    },
    drop,
    async close() {
      const open = [...connections.values()]
      connections.clear()
      await Promise.all(open.map(closeConnection))
    },
  }
}

async function closeConnection({ opening, stop, isOpen }: PooledConnection): Promise<void> {
  if (!isOpen) stop.abort(new Error('The connection is no longer wanted.'))
  try {
    await (await opening).close()
  } catch {
    // The connection never opened, or its server is gone.
  }
}

/** Waits for a connection that another call may be opening, but no longer than the signal allows. */
export function waitForOpening({ opening }: PooledConnection, signal: AbortSignal): Promise<McpConnection> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
