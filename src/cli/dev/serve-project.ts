/** One server of `svc dev`, from its start until it is left or its settings change. */
import { appendFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import type { VersionChange } from '../../authority/change.ts'
import { loadWorkspace } from '../../documents/workspace/load.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { createReplay, printExchange, readExchanges, type Cassette } from '../../spec/project/cassette.ts'
import type { OperatorAnswer } from '../../operations/operations.ts'
import type { TriggerView } from '../../operations/triggers.ts'
import type { CommandContext } from '../shell/command.ts'
import { announceServer, quietLog, tellMissingSecrets } from './announce.ts'
import { describeFindings, publishSave, tellDiagnostics } from './reload.ts'
import { followServer } from './follow.ts'
import { openDevProxy, type HttpsProxy } from './https.ts'
import { openConsole } from './open-console.ts'
import { createStatusArea } from './status-area.ts'
import { createTriggers } from './triggers.ts'
import { withDotEnv } from '../project/dot-env.ts'
import { readText } from '../runs/input.ts'
import { createOperator, type OperatorClient } from '../../client/operator.ts'
import { readServerFile, replaceServerFile, type FoundServerFile } from '../project/server/running-server.ts'
import type { Project } from '../project/project.ts'
import { openServerNearPort, readAddress, withDoors } from '../project/open-server.ts'
import { readTapes } from '../runs/rehearsal.ts'
import { bundlesOf, saveSnapshot, type SavedSnapshots, type SnapshotSave } from '../release/snapshots.ts'
import { watchFiles } from '../files/watch.ts'
import type { readyAnswer, reloadAnswer, diagnosticLine } from '../answers/serve.ts'
import type { ValueOf } from '../../operations/schema.ts'

/** Name of the trigger that `dev` creates. */
const TRIGGER = 'api'

/** What stays when a server is started again with changed settings. */
export interface KeptByDev {
  /** The data directory of `--ephemeral`. */
  readonly ephemeral?: string
  /** Programs that got the key keep it. */
  key?: OperatorAnswer<'POST /keys'>
  /** Of the API, where the system chose it. */
  port?: number
  front?: HttpsProxy
}

/**
 * Serves a project, and publishes and deploys each save without errors.
 * @param path absolute, of the served documents
 * @returns the project with its changed settings, with which to serve again; undefined when it was left
 */
export async function serveProject(
  call: CommandContext<ValueOf<typeof readyAnswer> | ValueOf<typeof reloadAnswer> | ValueOf<typeof diagnosticLine>>,
  project: Project,
  path: string,
  kept: KeptByDev,
): Promise<Project | undefined> {
  const { given, io, out, signal } = call
  const address = readAddress(call, project, given.choice('console') !== false)
  // The server keeps this object and looks secrets up in it when it needs them.
  const env: Record<string, string | undefined> = {}
  const readEnv = async (workspace: Workspace): Promise<void> => {
    const now = await withDotEnv(io.env, project, workspace)
    for (const name of Object.keys(env)) if (!(name in now)) delete env[name]
    Object.assign(env, now)
  }
  const workspace = await loadWorkspace(project.directory)
  // Before anything is written: an empty folder stays empty.
  if (workspace.documents.length + workspace.findings.length === 0) throw fail('no_documents', { where: path })
  await readEnv(workspace)
  const dataDirectory = kept.ephemeral ?? project.dataDirectory
  const area = createStatusArea(call)
  const server = await openServerNearPort(
    {
      project: withDoors(call, project),
      dataDirectory,
      env,
      offline: given.flag('offline'),
      development: true,
      otel: given.flag('otel'),
      log: quietLog(out, area),
      cassette: await openCassette(call),
    },
    address.port === 0 && kept.port !== undefined ? { ...address, port: kept.port } : address,
  )
  const port = Number(new URL(server.url).port)
  if (kept.port === undefined && address.port !== 0 && port !== address.port)
    out.message(`Port ${address.port} or the next is taken by another program; this server listens on ${port}.`)
  const operator = createOperator((request) => server.operator.fetch(request))
  let triggers: readonly TriggerView[] = []
  let before: SnapshotSave | undefined
  let changed: Project | undefined
  const restart = new AbortController()
  const next = (): Project | undefined => (signal.aborted ? undefined : changed)
  let watching: { close(): Promise<void> } | undefined
  // The socket is next to the project even when the data is elsewhere, because commands look for the server there.
  const share = async (secret?: NonNullable<FoundServerFile['key']>): Promise<void> => {
    const file = await readServerFile(dataDirectory)
    if (file) await replaceServerFile(project.dataDirectory, { ...file, ...(secret && { key: secret }) })
  }
  let broken = false
  /** A version is deployed, so the agent can be called. */
  let isOpen = false
  const save = async (): Promise<SnapshotSave & { readonly mended: boolean }> => {
    const saving = await saveSnapshot(project, path, operator, before)
    await readEnv(saving.build.workspace)
    // A save with errors is not deployed, so the next save is compared with the last deployed one.
    if (saving.saved) before = saving
    if (saving.saved && !isOpen) {
      isOpen = true
      const key = (kept.key ??= await makeKey(operator, saving.saved))
      triggers = await createTriggers(operator, project.config.triggers ?? [], {
        dataDirectory,
        root: saving.saved.agent,
        own: key.triggerId,
      })
      await share({ secret: key.secret, agent: key.agent })
    }
    const mended = broken && saving.saved !== undefined
    broken = saving.saved === undefined
    return { ...saving, mended }
  }
  try {
    if (kept.ephemeral !== undefined) await share()
    const saving = await save()
    const differences = createDifferences(saving)
    // Before the ready line: a program that waits for it may save a file at once.
    if (given.choice('watch') !== false)
      watching = await watchFiles(
        project.directory,
        async (paths) => {
          changed = await publishSave(call, project, save, differences, paths, area)
          if (changed) restart.abort()
        },
        AbortSignal.any([signal, restart.signal]),
      )
    await announceServer(call, server, project.dataDirectory, saving.saved, kept.key, triggers)
    if (!given.flag('offline')) tellMissingSecrets(call, project, saving.build.workspace, env)
    if (given.flag('https') || given.flag('qr')) {
      kept.front ??= await openDevProxy(server.url, address.host, given.flag('https'))
      out.message(`  ${given.flag('https') ? 'HTTPS  ' : 'front  '}  ${kept.front.url}`)
      if (given.flag('qr') && io.stdout.isTTY && !call.mode.json) await kept.front.printQrCode()
    }
    await tellDiagnostics(call, saving)
    area?.setProblem(describeFindings(saving))
    if (given.flag('open') && kept.port === undefined) await openConsole(call, operator)
    kept.port = port
    await followServer({ call, project, path, operator, area }, AbortSignal.any([server.drain, restart.signal]))
  } finally {
    area?.close()
    await watching?.close()
    if (kept.key && !next()) await operator.call('POST /keys/:id/revoke', { id: kept.key.keyId, body: undefined })
    await server.end()
  }
  return next()
}

const RECORDING = 'recording.ndjson'

/** `--record DIR` records answers of models and tools, `--replay DIR` replays them. */
async function openCassette(call: CommandContext): Promise<Cassette> {
  const { cwd } = call
  const { record, replay } = readTapes(call)
  if (replay !== undefined) {
    const text = await readText(join(replay, RECORDING), { cwd })
    return { replay: createReplay(readExchanges(text)) }
  }
  if (record === undefined) return {}
  const directory = resolve(cwd, record)
  makeDirectory(directory)
  // Written synchronously and in order: a recording without its end cannot be replayed.
  return { record: (exchange) => appendFileSync(join(directory, RECORDING), printExchange(exchange), { mode: 0o600 }) }
}

/** Prints how a save changes what the agents may do, compared with the save before. */
function createDifferences(first: SnapshotSave): (next: SnapshotSave) => Promise<readonly VersionChange[]> {
  let last = first
  return async (next) => {
    if (!next.saved) return []
    const before = last
    last = next
    const [{ closureInBundle }, { diffClosures }] = await Promise.all([
      import('../../authority/closure.ts'),
      import('../../authority/diff.ts'),
    ])
    const changes = bundlesOf(next).flatMap((is) => {
      const was = bundlesOf(before).find(({ root }) => root === is.root)
      return was && is.root !== undefined
        ? diffClosures(closureInBundle(was, is.root), closureInBundle(is, is.root)).changes
        : []
    })
    return changes.filter(({ severity, widens }) => widens || severity !== 'patch')
  }
}

async function makeKey(operator: OperatorClient, { agent }: SavedSnapshots): Promise<OperatorAnswer<'POST /keys'>> {
  const { items } = await operator.call('GET /triggers', { query: { agent } })
  const trigger =
    items.find(({ type, name }) => type === 'api' && name === TRIGGER) ??
    (await operator.call('POST /triggers', { body: { agent, type: 'api', name: TRIGGER } }))
  return await operator.call('POST /keys', {
    body: { agent, trigger: trigger.triggerId, allowUploads: true, name: 'svc dev' },
  })
}
