/**
 * Opens the runtime and its listeners, and closes them in the reverse order. `openOperator` opens the same runtime without
 * listeners, for commands that run while no server does.
 */
import { rm } from 'node:fs/promises'
import { toNodeHandler } from 'h3/node'
import type { Log } from '../base/log.ts'
import { parseUrl } from '../base/net/parse-url.ts'
import { isLoopback } from '../base/net/loopback.ts'
import { within } from '../base/signal-within.ts'
import type { Engine } from '../engine/interface/engine.ts'
import type { Store } from '../store/store.ts'
import { fail } from '../base/failure.ts'
import { isFullDisk, NO_SPACE } from '../base/files/file-error.ts'
import { createApp } from './app.ts'
import type { RuntimeOptions } from './runtime/options.ts'
import { openRuntime, type OpenRuntime } from './runtime/runtime.ts'
import { listenHttp, listenAdmin } from './http/listen.ts'
import { createInternalApp } from './internal-app.ts'
import { recordConfiguration } from './acts/configured-act.ts'
import type { OperatorApp } from './operator-app.ts'
import { openBackgroundJobs } from './runtime/upkeep/background-jobs.ts'
import { followPeers } from './peers/follow-peers.ts'
import { servePeerText } from './peers/serve-text.ts'
import { drainTime, OWN_DRAIN_MS } from './runtime/cluster-settings.ts'
import { createLoadMetrics, type LoadMetrics } from './runtime/load-metrics.ts'
import { createMetricRegistry, type MetricRegistry } from './metrics/registry.ts'
import type { ServerServices } from './runtime/services.ts'
import { adminSocketOf, removeServerFile, writeServerFile } from './runtime/server-file.ts'

export interface ServerOptions extends RuntimeOptions {
  /** `127.0.0.1` by default. */
  readonly host?: string
  /** 0, the default, picks a free port. */
  readonly port?: number
  readonly uploadPort?: number
  /** Instead of `admin.sock` in the data directory. */
  readonly adminSocket?: string
  /** Where the operator listener with the console listens; absent = nowhere. Port 0 picks a free one. */
  readonly console?: { readonly host?: string; readonly port: number }
  /** Address for load balancers and the other processes of the store; absent = none. */
  readonly internal?: { readonly host: string; readonly port: number; readonly peerUrl?: string }
}

export interface RunningServer {
  readonly url: string
  readonly uploadUrl: string
  /** Null where the console is off. */
  readonly consoleUrl: string | null
  /** Null where there is no internal listener. */
  readonly internalUrl: string | null
  /** Aborted when an operator asks this process to hand over and end, and, with a Failure, when its store cannot be read any more. */
  readonly drain: AbortSignal
  /** Path of the Unix socket; null in memory. */
  readonly adminSocket: string | null
  readonly engine: Engine
  readonly store: Store
  readonly operator: OperatorApp
  /** How many sessions were continued at boot. */
  readonly recovered: number
  /** Drains: stops accepting, ends streams, stores outcomes of work in flight. Runs continue at the next start. */
  close(graceMs?: number): Promise<void>
  /** Closes for a process that ends next: what has not closed 2 s after the time to drain is left to the end of the process. */
  end(): Promise<void>
}

export interface OpenOperator {
  readonly operator: OperatorApp
  readonly engine: Engine
  readonly store: Store
  /** @param graceMs how long it waits for calls in flight */
  close(graceMs?: number): Promise<void>
}

/** @throws Failure `store_locked`, `store_unreadable`, `port_taken`, `config_invalid` */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  const host = options.host ?? '127.0.0.1'
  const drainMs = drainTime(options.env, options.store !== undefined)
  const metrics = createMetricRegistry()
  const runtime = await openRuntime(
    { ...options, metrics, isScraped: options.internal !== undefined },
    { host, port: options.uploadPort ?? 0 },
  )
  try {
    const server = await openListeners(runtime, options, host, metrics)
    const close = (graceMs = drainMs): Promise<void> => runtime.close(graceMs)
    return { ...server, close, end: () => closeInTime(close(), drainMs, runtime.services.log) }
  } catch (error) {
    await runtime.close(0)
    const { dataDirectory: directory } = options
    if (directory === undefined || !isFullDisk(error)) throw error
    throw fail('data_directory_full', { directory, why: NO_SPACE }, { cause: error })
  }
}

/** For what follows the time to drain: the last outcomes are stored, leases given back, files closed. */
const LAST_STEPS_MS = 1500

/** To end late loses no more than a crash, which loses nothing, but who waits for the end may lose patience and kill more. */
async function closeInTime(closed: Promise<void>, drainMs: number, log: Log): Promise<void> {
  if (await within(drainMs + LAST_STEPS_MS, closed)) return await closed
  log.write('warn', 'not everything could be closed in time: it ends with the process', { drainMs })
}

/**
 * With `readOnly` it answers requests that only read, while a server or another command holds the directory.
 * @throws Failure `store_locked` (never with `readOnly`), `store_unreadable`, `config_invalid`
 */
export async function openOperator(options: RuntimeOptions): Promise<OpenOperator> {
  const runtime = await openRuntime(options)
  const { engine, store } = runtime.services
  if (options.dataDirectory !== undefined && options.readOnly !== true)
    await removeStaleServerFiles(options.dataDirectory)
  const close = (graceMs = OWN_DRAIN_MS): Promise<void> => runtime.close(graceMs)
  return { operator: openOperatorApp(runtime.services), engine, store, close }
}

/** The operator application, loaded with its first request: no run needs it. */
function openOperatorApp(services: ServerServices): OperatorApp {
  let opened: Promise<OperatorApp> | undefined
  const open = (): Promise<OperatorApp> =>
    (opened ??= import('./operator-app.ts').then(({ createOperatorApp }) => createOperatorApp(services)))
  return {
    fetch: async (request) => (await open()).fetch(request),
    handleNode: async (request, response) => (await open()).handleNode(request, response),
  }
}

/** Removes what a killed server left behind: we hold the directory's lock, so no server listens there any more. */
async function removeStaleServerFiles(directory: string): Promise<void> {
  await removeServerFile(directory)
  await rm(adminSocketOf(directory), { force: true })
}

async function openListeners(
  runtime: OpenRuntime,
  options: ServerOptions,
  host: string,
  metrics: MetricRegistry,
): Promise<Omit<RunningServer, 'close' | 'end'>> {
  const { services, presence } = runtime
  const { serverState: about, engine, store, ids, log, clock, workspace, config } = services

  const { telemetry } = runtime
  const load = options.internal || telemetry?.hasMetrics ? openLoadMetrics(runtime, metrics) : undefined
  if (load) telemetry?.exportMetrics(() => load.collect())
  const internalUrl = options.internal && load ? await openInternal(runtime, options.internal, load) : null
  const { hosts = [], origins = [] } = config.network ?? {}
  const app = createApp(services, { loopback: isLoopback(host), hosts, origins })
  const listener = await listenHttp(toNodeHandler(app), { host, port: options.port ?? 0, ids })
  runtime.onClose((graceMs) => listener.close(graceMs))
  runtime.onListening(host, listener.port)
  about.url = urlOf(host, listener.port)

  const operator = openOperatorApp(services)
  const directory = options.dataDirectory
  const adminSocket = directory === undefined ? null : (options.adminSocket ?? adminSocketOf(directory))
  if (adminSocket !== null) {
    const admin = await listenAdmin(operator.handleNode, adminSocket, ids)
    runtime.onClose((graceMs) => admin.close(graceMs))
  }

  const consoleUrl = options.console ? await openConsole(runtime, options.console, host) : null

  // Before the first effect of a run leaves.
  await runtime.learnOthers()
  await recordConfiguration(services)
  const recovered = await engine.recover()
  if (config.notify) {
    const { createNoticeDesk } = await import('./operator/people/notice-desk.ts')
    await runtime.beginNotices(config.notify, createNoticeDesk(services))
  }
  const restored = await store.restored(workspace.id)
  const isStoreHeld = (await store.lastRestore())?.releasedAt === null
  if (isStoreHeld || restored.sessions.length + restored.triggers.length > 0)
    log.write('warn', 'what was restored is held until svc restore --resume', {
      runs: restored.sessions.length,
      triggers: restored.triggers.length,
    })
  const jobs = await openBackgroundJobs(services, {
    isShared: options.store !== undefined,
    isFirst: () => presence.isFirst(),
  })
  about.onTriggersChanged = () => jobs.wake('schedule')
  runtime.onClose((graceMs) => jobs.close(graceMs))
  // Other processes continue its runs while its jobs end and it still answers accepted requests; closing the runtime waits for its end.
  runtime.onClose((graceMs) => void engine.close(graceMs).catch(() => {}))

  if (runtime.clusterSecret) {
    const { clusterSecret: secret, worker } = runtime
    const following = followPeers({ store, exchange: engine.text, secret, worker, now: () => clock.now() })
    runtime.onClose(() => following.close())
  }
  await presence.begin(() => {
    log.write('info', 'an operator asked this process to drain')
    runtime.ending.abort()
  })
  const { url, uploadUrl } = { url: about.url, uploadUrl: about.uploadUrl ?? '' }
  if (directory !== undefined && adminSocket !== null) {
    await writeServerFile(directory, { pid: process.pid, url, uploadUrl, consoleUrl, adminSocket })
    runtime.onClose(() => removeServerFile(directory))
  }
  log.write('info', 'listening', {
    url,
    uploadUrl,
    ...(consoleUrl !== null && { consoleUrl }),
    ...(internalUrl !== null && { internalUrl }),
    recovered,
  })
  return {
    url,
    uploadUrl,
    consoleUrl,
    internalUrl,
    drain: runtime.ending.signal,
    adminSocket,
    engine,
    store,
    operator,
    recovered,
  }
}

/**
 * The operator listener. Beyond loopback it is reached through a proxy that ends TLS, and by people with a credential.
 * @throws Failure `port_taken`, `config_invalid`
 */
async function openConsole(
  runtime: OpenRuntime,
  { host: ownHost, port }: NonNullable<ServerOptions['console']>,
  serverHost: string,
): Promise<string> {
  const { services } = runtime
  const { config, ids, serverState } = services
  const host = ownHost ?? (isLoopback(serverHost) ? serverHost : '127.0.0.1')
  const { hosts = [], proxies = [] } = config.network ?? {}
  if (!isLoopback(host) && proxies.length === 0)
    throw fail('config_invalid', {
      what: `The console would listen on ${host}, which other machines reach, but network.proxies names no proxy that ends TLS before it.`,
    })
  const { createConsoleApp } = await import('./console-app.ts')
  const listener = await listenHttp(createConsoleApp(services, { loopback: isLoopback(host), hosts, proxies }), {
    host,
    port,
    ids,
  })
  runtime.onClose((graceMs) => listener.close(graceMs))
  // A wrong address is known before the first person signs in; nothing waits for the answer.
  services.signIn?.look().catch((error: Error) => {
    services.log.write('warn', 'nobody could sign in at the identity provider now', { why: error.message })
  })
  // Blocks tools and models from this port, although they would have no session there.
  runtime.onListening(host, listener.port)
  // As browsers write it: in lower case, and without the usual port.
  const named = config.console?.url
  const url = named === undefined ? urlOf(host, listener.port) : (parseUrl(named)?.origin ?? named)
  return (serverState.consoleUrl = url)
}

function openLoadMetrics(runtime: OpenRuntime, registry: MetricRegistry): LoadMetrics {
  const { services, lag } = runtime
  const { engine, store, clock, log, workspace, serverState } = services
  const metrics = createLoadMetrics({
    store,
    clock,
    log,
    lag,
    registry,
    workspaceId: workspace.id,
    version: serverState.version,
    leasesHeld: () => engine.leasesHeld(),
  })
  runtime.onClose(() => metrics.close())
  return metrics
}

/** @throws Failure `port_taken` */
async function openInternal(
  runtime: OpenRuntime,
  { host, port, peerUrl }: NonNullable<ServerOptions['internal']>,
  metrics: LoadMetrics,
): Promise<string> {
  const { services, presence, clusterSecret } = runtime
  const { engine, ids } = services
  const peers = clusterSecret && servePeerText(engine.text, clusterSecret, ids)
  const app = createInternalApp(services, presence, metrics, peers?.routes)
  const listener = await listenHttp(app, { host, port, ids })
  runtime.onClose((graceMs) => listener.close(graceMs))
  runtime.onClose(() => peers?.close())
  // Probes are answered, and peers get the text of models, until the work under way has ended.
  runtime.onClose((graceMs) => engine.close(graceMs).catch(() => {}))
  runtime.onListening(host, listener.port)
  const url = urlOf(host, listener.port)
  services.serverState.peerUrl = peerUrl ?? (isAnyAddress(host) ? null : url)
  return url
}

/** True for a bind address that tells no address under which clients reach the server. */
const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`
