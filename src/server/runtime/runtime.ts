/** The parts of a server that have no door: store, storage, providers, tools, engine. */
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BreakerLimits } from '../../base/breaker.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import { createIds, workspaceIdOf } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { createRedactor } from '../../base/secret.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import type { EngineParts } from '../../engine/session/engine.ts'
import { createEngine } from '../../engine/open.ts'
import { withBreaker as restedModels } from '../../providers/breaker.ts'
import { withCassette as recordedModels } from '../../providers/cassette.ts'
import { createProviders, type ProviderParts } from '../../providers/choose.ts'
import { createEmbeddedQueue, type QueueTimers } from '../../queue/embedded.ts'
import type { Cassette } from '../../spec/cassette.ts'
import type { ProjectConfig } from '../../spec/config.ts'
import { canonicalProvider } from '../../spec/document.ts'
import { lockDirectory } from '../../store/sqlite/database/lock.ts'
import { openSqlite } from '../../store/sqlite/open.ts'
import { openSqliteReadOnly } from '../../store/sqlite/read-only.ts'
import { withBreaker as restedTools } from '../../tools/breaker.ts'
import { withCassette as recordedTools } from '../../tools/cassette.ts'
import type { Toolbox } from '../../tools/tool.ts'
import { createToolbox } from '../../tools/toolbox.ts'
import { createAttempts } from './attempts.ts'
import { logToAll, openLogFile } from '../log/log-file.ts'
import { refuseEmptied } from './emptied.ts'
import { createReaders } from './readers.ts'
import { createRehearsals } from './rehearsals.ts'
import { withRunLog } from '../log/run-log.ts'
import { openTelemetry, withSpans } from '../log/spans.ts'
import { createScopes } from './scopes.ts'
import type { ServerServices } from './services.ts'
import { readSessionFile } from './session-files.ts'
import { openStorage, type ObjectStorage } from './storage.ts'
import { startSweeping } from './sweep.ts'

export interface RuntimeOptions {
  /** Created when absent on disk, 0700. Undefined = everything in memory, files in a temporary directory. */
  readonly dataDirectory?: string
  /** Workspace name; ids of agents and versions are derived from it. */
  readonly workspace: string
  readonly config: ProjectConfig
  /** Directory of the config file: tool commands run in it. */
  readonly configDirectory: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Version of svc, as `GET /status` tells it. */
  readonly version: string
  /** Reads beside whoever holds the directory: takes no lock and changes nothing. */
  readonly readOnly?: boolean
  /** Every model provider becomes `auto`, but scripted ones. */
  readonly offline?: boolean
  readonly clock?: Clock
  /** JSON lines on standard error when absent. */
  readonly log?: Log
  /** Ended sessions are told to the OpenTelemetry SDK that was loaded into this process. */
  readonly otel?: boolean
  /** Takes the JSON lines instead of standard error; what they hold has passed the redactor. */
  readonly logTo?: { write(line: string): void }
  /**
   * For `svc dev`: written decisions may be given in the name of anybody, and runs may be rehearsed (command line, 3.2 and
   * `svc run`).
   */
  readonly development?: boolean
  /** For tests of agents, which wind the clock by hand: how time is waited for, and what stands in for tools. */
  readonly timers?: QueueTimers
  readonly wait?: NonNullable<ProviderParts['wait']>
  readonly standIn?: (tools: Toolbox) => Toolbox
  /** Records what models and tools answer, or plays it. */
  readonly cassette?: Cassette
}

/** Room for the outcomes of what is under way when the disk is full. Source: reliability, "Storage rules". */
const BALLAST_BYTES = 16 * 1024 * 1024

export interface OpenRuntime {
  readonly services: ServerServices
  /** A door was opened at this port: tools and models must not come in by it. */
  onListening(port: number): void
  /** What is opened on top is closed before the house: last opened, first closed. */
  onClose(close: () => void | Promise<void>): void
  /** From now on requests are refused; resolves when everything is stored and closed. */
  close(graceMs: number): Promise<void>
}

/**
 * @param uploads where the embedded storage listens; absent = nothing is served: storage is opened by the command that needs
 *   it, and work is recorded for the process that serves next
 * @throws Failure `store_locked`, `store_unreadable`, `port_taken`, `config_invalid`
 */
export async function openRuntime(
  options: RuntimeOptions,
  uploads?: { readonly host: string; readonly port: number },
): Promise<OpenRuntime> {
  const { workspace, config, configDirectory, env, version, offline = false, clock = systemClock } = options
  const { readOnly = false } = options
  const closers: (() => void | Promise<void>)[] = []
  let grace = 0
  /** Every part is closed, also after one that could not be. */
  const closeAll = async (): Promise<void> => {
    const next = closers.pop()
    if (!next) return
    try {
      await next()
    } finally {
      await closeAll()
    }
  }
  try {
    const directory = options.dataDirectory ?? (await temporary(closers))
    if (options.dataDirectory !== undefined && !readOnly) {
      const lock = lockDirectory(options.dataDirectory)
      closers.push(() => lock.release())
      refuseEmptied(options.dataDirectory)
    }
    const redactor = createRedactor()
    const said = options.log ?? (await import('../log/log.ts')).createLog(redactor, 'info', options.logTo)
    const kept =
      options.dataDirectory !== undefined && uploads ? openLogFile({ directory, redactor, clock }) : undefined
    if (kept) closers.push(() => kept.close())
    const log = kept ? logToAll(said, kept) : said
    const ids = createIds(() => clock.now())
    const file = options.dataDirectory === undefined ? ':memory:' : join(directory, 'data.db')
    const sqlite = readOnly
      ? await openSqliteReadOnly(file, clock)
      : openSqlite(file, { clock, ballastBytes: uploads && options.dataDirectory !== undefined ? BALLAST_BYTES : 0 })
    closers.push(() => sqlite.close())
    const logged = kept ? withRunLog(sqlite, kept) : sqlite
    const store = options.otel ? withSpans(logged, await openTelemetry(version), log) : logged
    const storageAt = async (address: { readonly host: string; readonly port: number }): Promise<ObjectStorage> => {
      const opened = await openStorage(config, {
        directory,
        clock,
        log,
        hosts: config.network?.hosts ?? [],
        publicUrl: config.storage?.public_url,
        ...address,
      })
      closers.push(() => opened.close(grace))
      return opened
    }
    const storage = uploads && (await storageAt(uploads))
    let lent: Promise<ObjectStorage> | undefined
    const lend = async (): Promise<Blobs> => (await (lent ??= storageAt({ host: '127.0.0.1', port: 0 }))).blobs
    const readFile =
      storage && ((sessionId: string, filename: string) => readSessionFile(store, storage.blobs, sessionId, filename))
    const ownPorts = new Set(storage?.port === undefined ? [] : [storage.port])
    const limits = breakerLimits(config)
    const reached = createToolbox({
      config,
      configDir: configDirectory,
      env,
      redactor,
      offline,
      clock,
      version,
      ownPorts,
      ...(readFile && { readFile }),
    })
    const real = limits ? restedTools(reached, limits, clock) : reached
    const { record, ...played } = options.cassette ?? {}
    const cassette: Cassette = { ...played, ...(record && { record: (each) => record(redactor.json(each)) }) }
    const rehearsals = createRehearsals(join(directory, 'rehearsals'), redactor)
    const tools = rehearsals.tools(recordedTools(options.standIn?.(real) ?? real, cassette))
    closers.push(() => tools.close())
    const asked = createProviders({
      env,
      redactor,
      offline,
      clock,
      allowedHosts: config.network?.allowed_hosts ?? [],
      ownPorts,
      ...(config.providers && { config: config.providers }),
      ...(options.wait && { wait: options.wait }),
    })
    const models = limits ? restedModels(asked, limits, clock) : asked
    const providers = rehearsals.models(recordedModels(models, cassette))
    const maxIterations = config.limits?.max_loop_iterations
    const parts: EngineParts = {
      store,
      providers,
      tools,
      clock,
      ids,
      random: () => randomInt(2 ** 32) / 2 ** 32,
      log,
      redactor,
      worker: `${hostname()}:${process.pid}`,
      // A command that records an answer and ends must not begin a call that it would have to abandon.
      sends: uploads !== undefined || options.timers !== undefined,
      ...(storage && { blobs: storage.blobs }),
      ...(maxIterations !== undefined && { maxIterations }),
      concurrency: { ...config.concurrency, providers: boundsOfProviders(config.providers) },
    }
    const engine = createEngine(
      parts,
      options.timers && ((handlers, time) => createEmbeddedQueue(handlers, time, options.timers)),
    )
    for (const id of readOnly ? [] : rehearsals.kept())
      if ((await store.session(id))?.finishedAt !== null) rehearsals.forget(id)
    if (storage) {
      const sweeping = startSweeping(store, storage.blobs, clock, log)
      closers.push(() => sweeping.stop())
    }
    const services: ServerServices = {
      ...(options.dataDirectory !== undefined && { directory: options.dataDirectory }),
      workspace: { id: workspaceIdOf(workspace), name: workspace },
      store,
      engine,
      blobs: storage?.blobs ?? lend,
      config,
      clock,
      ids,
      log,
      redactor,
      readers: createReaders(),
      attempts: createAttempts(clock),
      scopes: createScopes(store),
      about: { version, startedAt: clock.now(), url: null, uploadUrl: storage?.url ?? null, closing: false },
      development: options.development ?? false,
      rehearsals,
      operator: env['SVC_OPERATOR'] ?? env['USER'] ?? env['USERNAME'] ?? 'operator',
    }
    closers.push(() => engine.close(grace))
    return {
      services,
      onListening: (port) => void ownPorts.add(port),
      onClose: (close) => void closers.push(close),
      async close(graceMs) {
        grace = graceMs
        services.about.closing = true
        services.readers.stopAll()
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Bounds that providers set themselves, by the names that compiled models have. */
const boundsOfProviders = (providers: ProjectConfig['providers'] = {}): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(providers).flatMap(([name, { concurrency }]) =>
      concurrency === undefined ? [] : [[canonicalProvider(name), concurrency]],
    ),
  )

async function temporary(closers: (() => void | Promise<void>)[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-'))
  closers.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

function breakerLimits({ circuit_breaker: breaker }: ProjectConfig): BreakerLimits | undefined {
  if (!breaker) return undefined
  const { failures, pause = '30s' } = breaker
  // The shape of the file has been checked.
  return { failures, pauseMs: parseDuration(pause)! }
}
