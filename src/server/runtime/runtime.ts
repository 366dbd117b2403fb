/** Opens the parts of a server that do not listen: store, storage, tools, models and engine. */
import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import { systemClock } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { createIds, workspaceIdOf } from '../../base/ids.ts'
import { createEgress } from '../../base/net/egress.ts'
import { createOwnListeners } from '../../base/net/own-listeners.ts'
import { createRedactor } from '../../base/secret.ts'
import { listSecretVariables, redactVariables } from '../../spec/project/secret-variables.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { createEngine } from '../../engine/open.ts'
import type { NotifyConfig, ProjectConfig } from '../../spec/project/config.ts'
import { canonicalProvider } from '../../spec/document.ts'
import type { Store } from '../../store/store.ts'
import { joinListeners } from '../../store/worker.ts'
import { createRefusedActs } from './refused-acts.ts'
import { createKeyAttempts } from './attempts.ts'
import { createChangeHints } from './change-hints.ts'
import { watchEventLoop, type EventLoopLag } from './event-loop-lag.ts'
import type { NoticeDesk } from '../notify/channel.ts'
import type { NoticeDelivery } from '../notify/delivery.ts'
import type { OpenTelemetry } from '../telemetry/open-telemetry.ts'
import { readClusterSecret, type ClusterSecret } from '../peers/cluster-secret.ts'
import { createCloseStack, type CloseAction, type CloseStack } from './open/close-stack.ts'
import { maxClaimedSessions, sharedLeaseTimes } from './cluster-settings.ts'
import { openDataDirectory, openLogAndStore } from './open/open-store.ts'
import { openTools } from './open/open-tools.ts'
import type { RuntimeOptions } from './options.ts'
import { createPresence, type ServerPresence } from './presence.ts'
import { checkpointDemandOf } from './checkpoint-demand.ts'
import { nameOfLocalOperator } from './local-operator.ts'
import { spendCapOf } from './rates.ts'
import { createStreamReaders } from './readers.ts'
import type { RehearsalRegistry } from './rehearsals.ts'
import { createSessionScopes } from './scopes.ts'
import type { ServerServices } from './services.ts'
import { createSignInCodes } from './sign-in-codes.ts'
import { createIdentityProvider } from '../sign-in/identity-provider.ts'
import { readSignInSettings } from '../sign-in/settings.ts'
import { readSessionFile } from './session-files.ts'
import { checkBucketAt } from './open/check-bucket.ts'
import { openStorage, type ObjectStorage } from './open/storage.ts'
import { watchReaderRights } from './watch-readers.ts'

interface ListenAt {
  readonly host: string
  readonly port: number
}

export interface OpenRuntime {
  readonly services: ServerServices
  readonly presence: ServerPresence
  /** Undefined where the processes of the store share none, or there is one process. */
  readonly clusterSecret: ClusterSecret | undefined
  /** Names this process to the others. */
  readonly worker: string
  readonly lag: EventLoopLag
  /** Absent where nothing is exported. */
  readonly telemetry: OpenTelemetry | undefined
  /** Blocks tools and models from calling our own listener on this port. */
  onListening(host: string, port: number): void
  /** Sends what waits in the outbox, from now on. */
  beginNotices(notify: NotifyConfig, desk: NoticeDesk): Promise<void>
  /** Reads where the other processes of the store listen; later their listeners come with each report. */
  learnOthers(): Promise<void>
  /** Ends the server: an operator asked for it, or its store cannot be read; the reason is then a Failure. */
  readonly ending: AbortController
  /** Registers a part that was opened on top of the runtime: it is closed before the runtime, last opened first. */
  onClose(close: CloseAction): void
  /** Refuses requests from now on; resolves when everything is stored and closed. */
  close(graceMs: number): Promise<void>
}

/**
 * @param uploads where the embedded storage listens; without it nothing is served: the first command that needs storage opens
 *   it, and the engine records work for the process that serves next
 * @throws Failure `store_locked`, `store_unreadable`, `port_taken`, `config_invalid`
 */
export async function openRuntime(options: RuntimeOptions, uploads?: ListenAt): Promise<OpenRuntime> {
  const closing = createCloseStack()
  try {
    return await openParts(options, uploads, closing)
  } catch (error) {
    await closing.closeAll(0)
    throw error
  }
}

async function openParts(
  options: RuntimeOptions,
  uploads: ListenAt | undefined,
  closing: CloseStack,
): Promise<OpenRuntime> {
  const { workspace, config, env, version, readOnly = false } = options
  const directory = await openDataDirectory(options, closing)
  const redactor = createRedactor()
  const secretVariables = listSecretVariables(config)
  redactVariables(redactor, secretVariables, {
    ...env,
    ...(options.store !== undefined && { SVC_STORE: options.store }),
  })
  if (uploads && options.store !== undefined) await checkShared(config)
  const signInSettings =
    uploads &&
    config.sign_in &&
    readSignInSettings(config.sign_in, { env, configDirectory: options.configDirectory, redactor })
  const clusterSecret = options.store === undefined ? undefined : readClusterSecret(env['SVC_CLUSTER_SECRET'])
  const ending = new AbortController()
  let delivery: NoticeDelivery | undefined
  const { log, store, telemetry } = await openLogAndStore(options, {
    damaged: (failure) => ending.abort(failure),
    clock: options.clock ?? systemClock,
    redactor,
    closing,
    serving: uploads !== undefined,
    noticesAdded: () => delivery?.wake(),
  })
  const { clock } = store
  const ids = createIds(() => clock.now())
  // A process id is not unique across restarts of a container.
  const worker = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
  const serverState: ServerServices['serverState'] = {
    version,
    startedAt: clock.now(),
    isStoreShared: options.store !== undefined,
    url: null,
    uploadUrl: null,
    consoleUrl: null,
    peerUrl: null,
    closing: false,
  }
  const listeners = createOwnListeners()
  const presence = createPresence({
    store,
    clock,
    describe: () => ({
      id: worker,
      version,
      startedAt: serverState.startedAt,
      url: serverState.url,
      peerUrl: serverState.peerUrl,
      isDraining: serverState.closing,
      ...listeners.report(),
    }),
    onOthers: (others) => listeners.setOthers(others),
  })
  if (uploads) closing.push(() => presence.stop())

  const openStorageAt = async (address: ListenAt): Promise<ObjectStorage> => {
    // Other machines could not read files stored on this one.
    if (options.store !== undefined && config.storage?.url === undefined) throw fail('bucket_not_named')
    const storage = await openStorage(config, {
      directory,
      clock,
      log,
      hosts: config.network?.hosts ?? [],
      publicUrl: config.storage?.public_url,
      ...address,
    })
    closing.push((graceMs) => storage.close(graceMs))
    return storage
  }
  const storage = uploads && (await openStorageAt(uploads))
  serverState.uploadUrl = storage?.url ?? null
  let openedLater: Promise<ObjectStorage> | undefined
  const openBlobsLater = async (): Promise<Blobs> =>
    (await (openedLater ??= openStorageAt({ host: '127.0.0.1', port: 0 }))).blobs

  if (uploads && storage?.port !== undefined) listeners.add(uploads.host, storage.port)
  const { tools, providers, rehearsals } = openTools(options, {
    directory,
    clock,
    redactor,
    log,
    ownListeners: listeners,
    readFile: storage && ((sessionId, filename) => readSessionFile(store, storage.blobs, sessionId, filename)),
  })
  closing.push(() => tools.close())

  // The real clock, even where a test sets the time of runs.
  const lag = watchEventLoop(systemClock)
  closing.push(() => lag.close())
  const maxIterations = config.limits?.max_loop_iterations
  const plan = spendCapOf(config)
  const checkpoints = checkpointDemandOf(options, clock.now())
  const engine = createEngine({
    store,
    providers,
    tools,
    clock,
    ids,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    log,
    redactor,
    worker,
    // A command that records an answer and exits must not start a call that it would abandon.
    sends: uploads !== undefined || options.timers !== undefined,
    ...(storage && { blobs: storage.blobs }),
    ...(maxIterations !== undefined && { maxIterations }),
    ...(plan && { plan }),
    ...(checkpoints && { checkpoints }),
    concurrency: { ...config.concurrency, providers: providerConcurrency(config.providers) },
    ...(options.timers && { timers: options.timers }),
    ...(options.store !== undefined && {
      leaseTimes: sharedLeaseTimes(env),
      maxClaimed: maxClaimedSessions(env),
      isBehind: () => lag.isBehind(),
    }),
  })
  if (!readOnly) await forgetEndedRehearsals(rehearsals, store)
  closing.push((graceMs) => engine.close(graceMs))
  const refusedActs = createRefusedActs({ store, log, ...(options.timers && { timers: options.timers }) })
  closing.push(() => refusedActs.close())

  const services: ServerServices = {
    ...(options.dataDirectory !== undefined && { directory: options.dataDirectory }),
    workspace: { id: workspaceIdOf(workspace), name: workspace },
    store,
    engine,
    blobs: storage?.blobs ?? openBlobsLater,
    config,
    clock,
    ids,
    log,
    redactor,
    readers: createStreamReaders(),
    attempts: createKeyAttempts(clock),
    refusedActs,
    changes: createChangeHints(engine),
    signInCodes: createSignInCodes(clock),
    ...(signInSettings && {
      signIn: createIdentityProvider({
        settings: signInSettings,
        // No listener of ours is reached, as by channels of the configuration.
        fetch: createEgress({
          from: 'config',
          allowedHosts: config.network?.allowed_hosts ?? [],
          ownListeners: listeners,
        }),
        now: () => clock.now(),
      }),
    }),
    scopes: createSessionScopes(store),
    serverState,
    development: options.development ?? false,
    ...(options.documents && { documents: options.documents }),
    rehearsals,
    models: providers,
    secretVariables,
    secretState: (variable) => stateOfSecret(env[variable]),
    operator: nameOfLocalOperator(env),
  }
  if (uploads)
    closing.push(watchReaderRights({ store, workspaceId: services.workspace.id, readers: services.readers, log }))
  return {
    services,
    presence,
    clusterSecret,
    ending,
    worker,
    lag,
    telemetry,
    onListening: (host, port) => listeners.add(host, port),
    learnOthers: async () => listeners.setOthers(joinListeners(await store.workers(), worker)),
    onClose: (close) => closing.push(close),
    async beginNotices(notify, desk) {
      const { openNotify } = await import('./open/open-notify.ts')
      const opened = openNotify(notify, services, options, listeners, desk)
      delivery = opened.delivery
      serverState.noticeReceivers = opened.receivers
      closing.push(() => delivery?.close())
      delivery.wake()
      serverState.onNoticesAdded = () => delivery?.wake()
    },
    close(graceMs) {
      serverState.closing = true
      if (uploads) void presence.report()
      services.readers.stopAll()
      return closing.closeAll(graceMs)
    },
  }
}

/** Runs before the database records its owner. @throws Failure `bucket_not_named`, `bucket_unusable` */
async function checkShared({ storage }: ProjectConfig): Promise<void> {
  if (storage?.url === undefined) throw fail('bucket_not_named')
  await checkBucketAt(storage.url, storage.region)
}

/** Limits of parallel requests that providers set themselves, by the provider names of compiled models. */
const providerConcurrency = (providers: ProjectConfig['providers'] = {}): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(providers).flatMap(([name, { concurrency }]) =>
      concurrency === undefined ? [] : [[canonicalProvider(name), concurrency]],
    ),
  )

/** Deletes what earlier processes kept for rehearsed sessions that have ended since. */
async function forgetEndedRehearsals(rehearsals: RehearsalRegistry, store: Store): Promise<void> {
  for (const id of rehearsals.sessionIds()) if ((await store.session(id))?.finishedAt !== null) rehearsals.forget(id)
}

function stateOfSecret(value: string | undefined): 'missing' | 'empty' | 'set' {
  if (value === undefined) return 'missing'
  return value === '' ? 'empty' : 'set'
}
