/**
 * Opens the house and its doors, and closes them in the reverse order. `openOperator` is the same house without doors to the
 * street, for commands that run while no server does.
 */
import { rm } from 'node:fs/promises'
import { toNodeHandler } from 'h3/node'
import type { Engine } from '../engine/session/engine.ts'
import type { Store } from '../store/store.ts'
import { createApp } from './app.ts'
import { isLoopback } from './http/ip.ts'
import { openRuntime, type OpenRuntime, type RuntimeOptions } from './runtime/runtime.ts'
import { listenHttp, listenAdmin } from './http/listen.ts'
import { createOperatorApp, type OperatorApp } from './operator/app.ts'
import { createSchedule } from './runtime/schedule.ts'
import { adminSocketOf, removeServerFile, writeServerFile } from './runtime/server-file.ts'

export interface ServerOptions extends RuntimeOptions {
  /** `127.0.0.1` by default. */
  readonly host?: string
  /** 0, the default, picks a free port. */
  readonly port?: number
  readonly uploadPort?: number
  /** Instead of `admin.sock` in the data directory. */
  readonly adminSocket?: string
}

export interface RunningServer {
  readonly url: string
  readonly uploadUrl: string
  /** Path of the Unix socket; null in memory. */
  readonly adminSocket: string | null
  readonly engine: Engine
  readonly store: Store
  readonly operator: OperatorApp
  /** How many sessions were continued at boot. */
  readonly recovered: number
  /** Drains: stops accepting, ends streams, stores what is in flight. Runs go on at the next start. */
  close(graceMs?: number): Promise<void>
}

export interface OpenOperator {
  readonly operator: OperatorApp
  readonly engine: Engine
  readonly store: Store
  close(): Promise<void>
}

/** Source: command line, 1.3. */
const GRACE_MS = 5000

/** @throws Failure `store_locked`, `store_unreadable`, `port_taken`, `config_invalid` */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  const host = options.host ?? '127.0.0.1'
  const house = await openRuntime(options, { host, port: options.uploadPort ?? 0 })
  try {
    return await openDoors(house, options, host)
  } catch (error) {
    await house.close(0)
    throw error
  }
}

/**
 * With `readOnly` it answers what only reads, beside a server and other commands.
 * @throws Failure `store_locked` (never with `readOnly`), `store_unreadable`, `config_invalid`
 */
export async function openOperator(options: RuntimeOptions): Promise<OpenOperator> {
  const house = await openRuntime(options)
  const { engine, store } = house.services
  if (options.dataDirectory !== undefined && options.readOnly !== true) await forgetKilled(options.dataDirectory)
  return { operator: createOperatorApp(house.services), engine, store, close: () => house.close(GRACE_MS) }
}

/** The directory's lock is held: who is said to listen there was killed, and nobody shall wait for an answer any more. */
async function forgetKilled(directory: string): Promise<void> {
  await removeServerFile(directory)
  await rm(adminSocketOf(directory), { force: true })
}

async function openDoors(house: OpenRuntime, options: ServerOptions, host: string): Promise<RunningServer> {
  const { services } = house
  const { about, engine, store, ids, log, clock, workspace, config } = services
  let grace = GRACE_MS

  const { hosts = [], origins = [] } = config.network ?? {}
  const app = createApp(services, { loopback: host === 'localhost' || isLoopback(host), hosts, origins })
  const listener = await listenHttp(toNodeHandler(app), { host, port: options.port ?? 0, ids })
  house.onClose(() => listener.close(grace))
  house.onListening(listener.port)
  about.url = `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`

  const operator = createOperatorApp(services)
  const directory = options.dataDirectory
  const adminSocket = directory === undefined ? null : (options.adminSocket ?? adminSocketOf(directory))
  if (adminSocket !== null) {
    const admin = await listenAdmin(operator.handleNode, adminSocket, ids)
    house.onClose(() => admin.close(grace))
  }

  const recovered = await engine.recover()
  const held = await store.restored(workspace.id)
  if (held.sessions.length + held.triggers.length > 0)
    log.write('warn', 'what was restored is held until svc restore --resume', {
      runs: held.sessions.length,
      triggers: held.triggers.length,
    })
  const schedule = createSchedule({ store, engine, workspaceId: workspace.id, config, clock, log })
  about.onTriggers = () => schedule.refresh()
  house.onClose(() => schedule.stop())

  const { url, uploadUrl } = { url: about.url, uploadUrl: about.uploadUrl ?? '' }
  if (directory !== undefined && adminSocket !== null) {
    await writeServerFile(directory, { pid: process.pid, url, uploadUrl, adminSocket })
    house.onClose(() => removeServerFile(directory))
  }
  log.write('info', 'listening', { url, uploadUrl, recovered })
  return {
    url,
    uploadUrl,
    adminSocket,
    engine,
    store,
    operator,
    recovered,
    close(graceMs = GRACE_MS) {
      grace = graceMs
      return house.close(graceMs)
    },
  }
}
