/** The development loop: serves, watches, and publishes and deploys on every save without errors. */
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { fail } from '../../../base/failure.ts'
import { makeDirectory } from '../../../base/files/make-directory.ts'
import type { VersionChange } from '../../../authority/change.ts'
import { loadWorkspace } from '../../../documents/workspace/load.ts'
import type { Workspace } from '../../../documents/workspace/workspace.ts'
import { createReplay, printExchange, readExchanges, type Cassette } from '../../../spec/cassette.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import type { TriggerView } from '../../../operations/triggers.ts'
import type { CommandContext } from '../../shell/command.ts'
import { announceServer, quietLog, tellMissingSecrets } from '../../dev/announce.ts'
import { describeFindings, publishSave, tellDiagnostics } from '../../dev/reload.ts'
import { openDevProxy, type HttpsProxy } from '../../dev/https.ts'
import { openConsole } from '../../dev/open-console.ts'
import { handleHotkeys, type HotkeyContext } from '../../dev/hotkeys.ts'
import { logRuns } from '../../dev/live-log.ts'
import { createStatusArea } from '../../dev/status-area.ts'
import { createTriggers } from '../../dev/triggers.ts'
import { withDotEnv } from '../../project/dot-env.ts'
import { readText } from '../../runs/input.ts'
import { createOperator, openOperatorChannel, type OperatorClient } from '../../project/server/operator.ts'
import {
  answersOperator,
  deleteServerFile,
  readServerFile,
  replaceServerFile,
  type FoundServerFile,
} from '../../project/server/running-server.ts'
import { openProject } from '../../project/project.ts'
import { openServerNearPort, readAddress, throwWhyEnded, untilStopped, withDoors } from '../../project/open-server.ts'
import { readTapes } from '../../scenario/rehearsal.ts'
import { bundlesOf, saveSnapshot, type SavedSnapshots, type SnapshotSave } from '../../release/snapshots.ts'
import { watchFiles } from '../../files/watch.ts'
import type { readyAnswer, reloadAnswer, diagnosticLine } from '../../answers/serve.ts'
import type { ValueOf } from '../../../operations/schema.ts'

/** Name of the trigger that `dev` creates. */
const TRIGGER = 'api'

export async function dev(
  call: CommandContext<ValueOf<typeof readyAnswer> | ValueOf<typeof reloadAnswer> | ValueOf<typeof diagnosticLine>>,
): Promise<number> {
  const { given, io, out, cwd, signal } = call
  const named = given.argument(0)
  const project = await openProject(call, named === undefined ? undefined : resolve(cwd, named))
  const path = named === undefined ? project.directory : resolve(cwd, named)
  const address = readAddress(call, project, given.choice('console') !== false)
  const first = given.flag('ephemeral') ? undefined : await readServerFile(project.dataDirectory)
  if (first && (await answersOperator(project.dataDirectory))) return await attach(call, { project, path }, first)
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
  const ephemeral = given.flag('ephemeral') ? await mkdtemp(join(tmpdir(), 'svc-dev-')) : undefined
  const dataDirectory = ephemeral ?? project.dataDirectory
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
    address,
  )
  const port = Number(new URL(server.url).port)
  if (address.port !== 0 && port !== address.port)
    out.message(`Port ${address.port} or the next is taken by another program; this server listens on ${port}.`)
  const operator = createOperator(
    (request) => server.operator.fetch(request),
    async () => undefined,
  )
  let key: OperatorAnswer<'POST /keys'> | undefined
  let triggers: readonly TriggerView[] = []
  let before: SnapshotSave | undefined
  let front: HttpsProxy | undefined
  let watching: { close(): Promise<void> } | undefined
  // The socket is next to the project even when the data is elsewhere, because commands look for the server there.
  const share = async (secret?: NonNullable<FoundServerFile['key']>): Promise<void> => {
    const file = await readServerFile(dataDirectory)
    if (file) await replaceServerFile(project.dataDirectory, { ...file, ...(secret && { key: secret }) })
  }
  let broken = false
  const save = async (): Promise<SnapshotSave & { readonly mended: boolean }> => {
    const saving = await saveSnapshot(project, path, operator, before)
    await readEnv(saving.build.workspace)
    // A save with errors is not deployed, so the next save is compared with the last deployed one.
    if (saving.saved) before = saving
    if (saving.saved && !key) {
      key = await makeKey(operator, saving.saved)
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
    if (ephemeral !== undefined) await share()
    const saving = await save()
    const differences = createDifferences(saving)
    // Before the ready line: a program that waits for it may save a file at once.
    if (given.choice('watch') !== false)
      watching = await watchFiles(
        project.directory,
        (changed) => publishSave(call, project, save, differences, changed, area),
        signal,
      )
    await announceServer(call, server, project.dataDirectory, saving.saved, key, triggers)
    if (!given.flag('offline')) tellMissingSecrets(call, project, saving.build.workspace, env)
    if (given.flag('https') || given.flag('qr')) {
      front = await openDevProxy(server.url, address.host, given.flag('https'))
      out.message(`  ${given.flag('https') ? 'HTTPS  ' : 'front  '}  ${front.url}`)
      if (given.flag('qr') && io.stdout.isTTY && !call.mode.json) await front.printQrCode()
    }
    await tellDiagnostics(call, saving)
    area?.setProblem(describeFindings(saving))
    if (given.flag('open')) await openConsole(call, operator)
    await stay({ call, project, path, operator, area }, server.drain)
  } finally {
    area?.close()
    await watching?.close()
    await front?.close()
    if (key) await operator.call('POST /keys/:id/revoke', { id: key.keyId, body: undefined })
    await server.end()
    if (ephemeral !== undefined) {
      await deleteServerFile(project.dataDirectory)
      await rm(ephemeral, { recursive: true, force: true })
    }
  }
  return 0
}

/** A second `dev` in the same project: the first one serves and watches; this one follows it and ends with it. */
async function attach(
  call: CommandContext<ValueOf<typeof readyAnswer>>,
  at: Pick<HotkeyContext, 'project' | 'path'>,
  first: FoundServerFile,
): Promise<number> {
  const { mode, out, io } = call
  const { pid, url, uploadUrl, consoleUrl } = first
  if (mode.json) await out.ndjson({ type: 'ready', url, uploadUrl, consoleUrl, pid })
  else out.line(`ready ${url}`)
  // Only svc dev leaves a key for the project.
  const who = first.key ? 'which watches this project' : 'which watches nothing: svc publish --deploy deploys'
  out.hint(`attached to the server of process ${pid}, ${who}`)
  const { dataDirectory } = at.project
  const [ended, left] = [new AbortController(), new AbortController()]
  const watching = untilGone(dataDirectory, left.signal).then(() => ended.abort())
  let operator: OperatorClient | undefined
  const area = createStatusArea(call)
  try {
    operator = await openOperatorChannel(at.project, io)
    await stay({ ...at, call, operator, area }, ended.signal)
  } catch (error) {
    // Requests in progress fail when the server ends, which is not an error of this process.
    if (await answersOperator(dataDirectory)) throw error
  } finally {
    area?.close()
    left.abort()
    await watching
    await operator?.close()
  }
  if (!call.signal.aborted && !(await answersOperator(dataDirectory)))
    out.message(`The server of process ${pid} has ended, and so has this one. svc dev starts the next.`)
  return 0
}

/** Interval at which an attached `dev` checks that the first one still runs. */
const ASK_EVERY_MS = 500

/** Resolves when the server stops answering, or when the signal fires. */
async function untilGone(dataDirectory: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await answersOperator(dataDirectory)))
    await after(ASK_EVERY_MS, undefined, { signal }).catch(() => undefined)
}

/** Prints run events and handles keys, until Ctrl-C, SIGTERM or `q`, or until `ended` fires. */
async function stay(bench: HotkeyContext, ended?: AbortSignal): Promise<void> {
  const { call, operator, area } = bench
  const stop = new AbortController()
  const signal = AbortSignal.any([call.signal, stop.signal, ...(ended ? [ended] : [])])
  const logging = call.mode.json ? undefined : logRuns(call, operator, signal, area)
  try {
    const obeys = call.mode.interactive && !call.mode.json
    await Promise.race([obeys ? handleHotkeys(bench, signal) : untilStopped(signal), ...(logging ? [logging] : [])])
  } finally {
    stop.abort()
    await logging
  }
  if (ended) throwWhyEnded(ended)
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
      import('../../../authority/closure.ts'),
      import('../../../authority/diff.ts'),
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
