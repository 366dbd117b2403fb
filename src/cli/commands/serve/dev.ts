/** The development loop: serves, watches, and publishes and deploys on every save without errors. */
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { fail } from '../../../base/failure.ts'
import { fromJson } from '../../../base/json/typed-json.ts'
import type { Log } from '../../../base/log.ts'
import { makeDirectory } from '../../../base/files/make-directory.ts'
import type { VersionChange } from '../../../authority/change.ts'
import { loadWorkspace } from '../../../documents/workspace/load.ts'
import type { Workspace } from '../../../documents/workspace/workspace.ts'
import { createReplay, printExchange, readExchanges, type Cassette } from '../../../spec/cassette.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import type { TriggerView } from '../../../operations/triggers.ts'
import { safeText } from '../../../base/escape-text.ts'
import { wrapText } from '../../../terminal/text.ts'
import { timeOfDay } from '../../../terminal/time.ts'
import { changeLines } from '../../release/changes.ts'
import type { CommandContext } from '../../shell/command.ts'
import { openDevProxy, type HttpsProxy } from '../../dev/https.ts'
import { haveSettingsChanged } from '../../dev/changed-settings.ts'
import { openConsole } from '../../dev/open-console.ts'
import { handleHotkeys, type HotkeyContext } from '../../dev/hotkeys.ts'
import { logRuns } from '../../dev/live-log.ts'
import { createStatusArea, type StatusArea } from '../../dev/status-area.ts'
import { createTriggers } from '../../dev/triggers.ts'
import { describeRefusedTick, REFUSED_TICK, type RefusedTick } from '../../../server/runtime/schedule.ts'
import { messageScreen } from '../../shell/screen/list.ts'
import { withDotEnv } from '../../project/dot-env.ts'
import { startCommandOf } from '../../runs/example-input.ts'
import { printFindings } from '../../release/findings.ts'
import { describeCommandError, formatCommandError } from '../../shell/exit.ts'
import { nextTimes } from '../../pages/next-times.ts'
import { readText } from '../../runs/input.ts'
import { createOperator, openOperatorChannel, type OperatorClient } from '../../project/server/operator.ts'
import {
  answersOperator,
  deleteServerFile,
  readServerFile,
  replaceServerFile,
  type FoundServerFile,
} from '../../project/server/running-server.ts'
import { openProject, type Project } from '../../project/project.ts'
import { checksOfAgent } from '../../project/secret-checks.ts'
import {
  openServerNearPort,
  readAddress,
  readyLine,
  throwWhyEnded,
  untilStopped,
  withDoors,
} from '../../project/open-server.ts'
import { readTapes } from '../../scenario/rehearsal.ts'
import { bundlesOf, saveSnapshot, type SavedSnapshots, type SnapshotSave } from '../../release/snapshots.ts'
import { packageVersion } from '../../shell/version.ts'
import { watchFiles } from '../../files/watch.ts'
import type { readyAnswer, reloadAnswer, diagnosticLine } from '../../answers/serve.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { isIdentified } from '../../../documents/text/document.ts'

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
        (changed) => reload(call, project, save, differences, changed, area),
        signal,
      )
    await announce(call, server, project.dataDirectory, saving.saved, key, triggers)
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

async function announce(
  { mode, out, io, cwd }: CommandContext<ValueOf<typeof readyAnswer>>,
  server: Parameters<typeof readyLine>[0],
  dataDirectory: string,
  saved: SavedSnapshots | undefined,
  key: OperatorAnswer<'POST /keys'> | undefined,
  triggers: readonly TriggerView[],
): Promise<void> {
  if (mode.json) return await out.ndjson(readyLine(server))
  if (!io.stdout.isTTY) out.line(`ready ${server.url}`)
  const model = saved && `   model: ${saved.model}${saved.model.startsWith('scripted/') ? ' (no key needed)' : ''}`
  out.message(
    `  svc ${packageVersion}   ${saved ? `${saved.agent}@${saved.version}${model}` : 'waiting for a clean save'}`,
  )
  const below = relative(cwd, dataDirectory)
  const file = join(below.startsWith('..') ? dataDirectory : below, 'server.json')
  out.message(`  API      ${server.url}${key ? `      key  ${key.prefix}…  (in ${safeText(file)})` : ''}`)
  out.message(`  uploads  ${server.uploadUrl}`)
  if (server.consoleUrl !== null) out.message(`  console  ${server.consoleUrl}`)
  for (const { name, cron, timeZone } of triggers) {
    if (cron === null) continue
    const [next] = await nextTimes(cron, timeZone ?? undefined, io.clock.now())
    out.message(`  schedule ${safeText(name)}      next ${next} (${timeZone ?? 'UTC'})`)
  }
  if (saved) out.hint(`  try      ${startCommandOf(saved.agent, saved.model, saved.inputContract)}`)
}

/** A run would fail at its first model call or tool call; a person who starts a server learns it at once. */
function tellMissingSecrets(
  { mode, out }: CommandContext,
  { config }: Project,
  { documents }: Workspace,
  env: Readonly<Record<string, string | undefined>>,
): void {
  if (mode.json) return
  const needed = documents
    .filter(isIdentified)
    .filter(({ kind }) => kind === 'Agent')
    .flatMap((document) => checksOfAgent(document, config, new Map(), env))
    .filter(({ shown: { state, usedBy } }) => state !== 'ok' && usedBy.length > 0)
  const users = new Map<string, string>()
  for (const { shown } of needed)
    if (!users.has(shown.env)) users.set(shown.env, `${shown.state}, ${shown.usedBy.join(', ')} of ${shown.agent}`)
  for (const [name, why] of users) out.message(`  key      ${name} (${why})   svc secrets set ${name}`)
}

/** Publishes a save. Prints why one cannot be published; the deployed version then stays. */
async function reload(
  call: CommandContext<ValueOf<typeof reloadAnswer> | ValueOf<typeof diagnosticLine>>,
  project: Project,
  save: () => Promise<SnapshotSave & { readonly mended: boolean }>,
  differences: (next: SnapshotSave) => Promise<readonly VersionChange[]>,
  paths: readonly string[],
  area: StatusArea | null,
): Promise<void> {
  const { mode, out, io } = call
  const since = io.clock.monotonic()
  const changed = paths.map((path) => relative(project.directory, path).replaceAll('\\', '/'))
  try {
    const saving = await save()
    await tellDiagnostics(call, saving)
    area?.setProblem(describeFindings(saving))
    if (changed.some((name) => DOT_ENV.test(name)))
      out.message(
        `${timeOfDay(io.clock.now())}  read ${safeText(changed.join(', '))}; secrets count from the next call`,
      )
    if (await haveSettingsChanged(call, project, paths))
      out.message(`${timeOfDay(io.clock.now())}  changed ${safeText(changed.join(', '))}; restart svc dev to apply it`)
    if (saving.saved?.unchanged && saving.mended && !mode.json)
      out.message(`${timeOfDay(io.clock.now())}  clean again; ${saving.saved.version} stays deployed`)
    if (!saving.saved || saving.saved.unchanged) return
    const { agent, version: deployed } = saving.saved
    const ms = Math.round(io.clock.monotonic() - since)
    // Deploys first: the comparison may take longer.
    const changes = await differences(saving)
    if (mode.json) return await out.ndjson({ type: 'reload', changed, agent, version: deployed, ms, changes })
    out.message(
      `${timeOfDay(io.clock.now())}  changed ${safeText(changed.join(', '))} → ${deployed} deployed in ${ms} ms`,
    )
    printChanges(call, changes, area)
  } catch (error) {
    const words = describeCommandError(error)
    if (!words) throw error
    if (mode.json) await out.ndjson({ type: 'diagnostic', severity: 'error', rule: words.code, message: words.message })
    else out.message(formatCommandError(words, false))
    area?.setProblem(words.message)
  }
}

/** Below the time and its gap. */
const INDENT = ' '.repeat(10)

/** Prints what a save changes. Wider authority is the most visible line on the screen, and stays in the status area. */
function printChanges(call: CommandContext, changes: readonly VersionChange[], area: StatusArea | null): void {
  const wider = changeLines(
    changes.filter(({ widens }) => widens),
    true,
  )
  const others = changeLines(
    changes.filter(({ widens }) => !widens),
    true,
  )
  const screen = messageScreen(call)
  const width = screen.width - INDENT.length
  const indented = (line: string, style: (text: string) => string = (text) => text): string[] =>
    (area ? wrapText(line, width) : [line]).map((part) => INDENT + style(part))
  if (area) screen.lines(...wider.flatMap((line) => indented(line, screen.theme.strong)))
  else wider.forEach((line) => call.out.message(INDENT + line))
  others.flatMap((line) => indented(line)).forEach((line) => call.out.message(line))
  area?.setWider(wider.map((line) => line.replace(/^wider\s+/, '')))
}

/** The first error of a save; undefined without one. */
function describeFindings({ build: { findings } }: SnapshotSave): string | undefined {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (!first) return undefined
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
  return `${first.path}:${first.range.start.line}: ${first.message}${more}`
}

async function tellDiagnostics(
  call: CommandContext<ValueOf<typeof diagnosticLine>>,
  { build: { findings, workspace } }: SnapshotSave,
): Promise<void> {
  const worth = findings.filter(({ severity }) => severity !== 'info')
  if (call.mode.json) for (const each of worth) await call.out.ndjson({ type: 'diagnostic', ...each })
  else printFindings(call, worth, workspace)
}

const DOT_ENV = /^\.env(?:\.local)?$/

/** Logs errors only, and of values only why a schedule starts nothing, since these lines are not redacted. */
const quietLog = (out: CommandContext['out'], area: StatusArea | null): Log => ({
  write(level, message, about) {
    if (message === REFUSED_TICK) out.message(safeText(`warn: ${describeRefusedTick(fromJson<RefusedTick>(about))}`))
    else if (level === 'warn' || level === 'error') out.message(`${level}: ${message}`)
    if (level === 'error') area?.setProblem(message)
  },
})
