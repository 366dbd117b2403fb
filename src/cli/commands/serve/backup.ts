import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toIsoText } from '../../../base/clock.ts'
import { fail, isFailure } from '../../../base/failure.ts'
import { fileFailure } from '../../../base/files/file-error.ts'
import { silentLog } from '../../../base/log.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { OPERATOR_URL } from '../../../client/operator.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { answersOperator } from '../../project/server/running-server.ts'
import { openProject, type Project } from '../../project/project.ts'
import { remoteError } from '../../../client/remote-error.ts'
import { formatSize } from '../../files/size.ts'
import { stdinBytes } from '../../files/stdin-bytes.ts'
import { releaseHeld } from './restored.ts'
import type { backupAnswer, resetAnswer, restoreAnswer } from '../../answers/serve.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** Renames the archive to its final name when it is complete. */
export async function backup(call: CommandContext<ValueOf<typeof backupAnswer>>): Promise<void> {
  const { given, mode, out, cwd, io } = call
  const file = given.argument(0) ?? `svc-${toIsoText(io.clock.now()).slice(0, 10).replaceAll('-', '')}.tgz`
  if (file === '-' && io.stdout.isTTY) throw usageFailure('A backup is not written to a terminal.', 'svc backup FILE')
  if (file === '-' && mode.json) throw usageFailure('With --json the backup goes to a file.')
  const project = await openProject(call)
  await withOperatorOf(project, call, async (operator) => {
    const response = await operator.send(new Request(new URL('/backup', OPERATOR_URL), { method: 'POST' }))
    if (!response.ok || !response.body) throw remoteError(response.status, 'POST /backup', await response.text())
    const count = (name: string): number => Number(response.headers.get(name) ?? 0)
    const [runs, objects] = [count('x-svc-runs'), count('x-svc-objects')]
    const written = file === '-' ? await toStdout(call, response.body) : await toFile(resolve(cwd, file), response.body)
    if (mode.json) return await out.json({ file, ...written, runs, objects })
    const summary = `backed up ${countNoun(runs, 'run')}, ${countNoun(objects, 'object')}, ${formatSize(written.bytes)}`
    const running = (await answersOperator(project.dataDirectory)) ? ' (server kept running)' : ''
    if (file === '-') out.message(summary)
    else out.line(`${summary} → ${file}${running}`)
  })
}

interface WrittenBackup {
  readonly bytes: number
  readonly digest: string
}

/** Writes directly to a device or a pipe: a rename would replace it by a file. */
async function toFile(path: string, body: ReadableStream<Uint8Array>): Promise<WrittenBackup> {
  const existing = await stat(path).catch(() => undefined)
  const isPlain = existing === undefined || existing.isFile()
  const draft = isPlain ? `${path}.part` : path
  const hash = createHash('sha256')
  let bytes = 0
  try {
    await pipeline(
      arriving(body),
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          bytes += chunk.length
          yield chunk
        }
      },
      createWriteStream(draft, { mode: 0o600 }),
    )
    if (isPlain) await rename(draft, path)
  } catch (error) {
    if (isPlain) await rm(draft, { force: true })
    if (isFailure(error)) throw error
    throw fileFailure(error, { path, doing: 'written' }) ?? error
  }
  return { bytes, digest: `sha256:${hash.digest('hex')}` }
}

/** The bytes of an archive. @throws Failure `backup_broken` where it is truncated */
async function* arriving(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw fail('backup_broken', undefined, { cause })
      })
      if (done) return
      yield value
    }
  } finally {
    reader.releaseLock()
  }
}

async function toStdout({ io }: CommandContext, body: ReadableStream<Uint8Array>): Promise<WrittenBackup> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of arriving(body)) {
    hash.update(chunk)
    bytes += chunk.length
    io.writeBytes?.(chunk)
  }
  return { bytes, digest: `sha256:${hash.digest('hex')}` }
}

/** Restores into an empty directory, or over existing data with `--force` and a confirmation. */
export async function restore(
  call: CommandContext<
    ValueOf<typeof restoreAnswer> | OperatorAnswer<'GET /restored'> | OperatorAnswer<'POST /restored/release'>
  >,
): Promise<void> {
  const { given, mode, out, cwd, io } = call
  const file = given.argument(0)
  if (given.flag('plan') || given.flag('resume')) return await releaseHeld(call)
  if (['run', 'agent', 'trigger'].some((name) => given.text(name) !== undefined))
    throw usageFailure('--run, --agent and --trigger name what --resume releases.')
  if (file === undefined) throw usageFailure('There is no backup to restore.', 'svc restore FILE, --plan or --resume')
  const project = await openProject(call)
  await refuseRunning(project)
  const { openReset } = await import('../../../server/runtime/upkeep/reset.ts')
  const { restoreBackup } = await import('../../../server/runtime/upkeep/restore.ts')
  const { dataDirectory, workspace, config } = project
  const archive = file === '-' ? await fromStdin(io) : await fromFile(resolve(cwd, file), file)
  if (given.flag('force')) {
    const there = await openReset({ dataDirectory, workspace, config, clock: io.clock })
    await there?.close()
    const lost = there && `${countNoun(there.runs, 'run')} and ${countNoun(there.files, 'file')}`
    if (lost && !(await confirmLoss(call, `Replace what is in ${dataDirectory} (${lost} are lost)?`)))
      return out.message('kept')
  }
  if (!project.anchored) throw fail('no_project', { directory: project.directory })
  const { manifest, held } = await restoreBackup({
    dataDirectory,
    config,
    archive,
    force: given.flag('force'),
    clock: io.clock,
    log: silentLog,
  })
  const { runs, objects } = manifest
  if (mode.json)
    return await out.json({ file, dataDirectory, workspace: manifest.workspace, runs, objects: objects.length, held })
  out.line(
    `restored ${countNoun(runs, 'run')}, ${countNoun(objects.length, 'object')} of ${manifest.workspace} → ${dataDirectory}`,
  )
  out.message(
    `${countNoun(held.runs, 'open run')} and ${countNoun(held.triggers, 'trigger')} are held, since they may have gone on after the backup:  svc restore --plan   svc restore --resume`,
  )
  if (project.config.workspace !== undefined && project.config.workspace !== manifest.workspace)
    out.message(
      `warning: the project's workspace is ${project.config.workspace}; agents of ${manifest.workspace} are seen with that name only`,
    )
}

async function fromFile(path: string, typed: string): Promise<ReadableStream<Uint8Array>> {
  const found = await stat(path)
  if (!found.isFile()) throw fail('file_unusable', { path: typed, doing: 'read', why: 'it is no regular file' })
  return Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
}

const fromStdin = async (io: CommandContext['io']): Promise<ReadableStream<Uint8Array>> =>
  new Blob([new Uint8Array(await stdinBytes(io))]).stream()

/** @throws Failure `usage` where a confirmation is needed and there is no terminal */
export async function reset(call: CommandContext<ValueOf<typeof resetAnswer>>): Promise<void> {
  const { given, mode, out, io } = call
  const project = await openProject(call)
  if (!project.anchored) throw fail('no_project', { directory: project.directory })
  await refuseRunning(project)
  const all = given.flag('all')
  const { dataDirectory, workspace, config } = project
  const { nameOfLocalOperator } = await import('../../../server/runtime/local-operator.ts')
  const { openReset } = await import('../../../server/runtime/upkeep/reset.ts')
  const state = await openReset({ dataDirectory, workspace, config, clock: io.clock })
  const forgotten = { all, runs: state?.runs ?? 0, files: all ? (state?.files ?? 0) : 0, dataDirectory }
  try {
    if (state && !(await mayForget(call, all, workspace, state))) return out.message('kept')
    await (all ? state?.forgetAll() : state?.forgetRuns(nameOfLocalOperator(io.env)))
  } finally {
    await state?.close()
  }
  if (mode.json) return await out.json(forgotten)
  const lost = all
    ? `${countNoun(forgotten.runs, 'run')}, ${countNoun(forgotten.files, 'file')} and everything else`
    : countNoun(forgotten.runs, 'run')
  out.line(state ? `forgot ${lost} in ${dataDirectory}` : `nothing is kept in ${dataDirectory}`)
}

async function mayForget(
  call: CommandContext,
  all: boolean,
  workspace: string,
  { runs, files }: { readonly runs: number; readonly files: number },
): Promise<boolean> {
  const { mode, io, signal } = call
  if (mode.yes) return true
  const lost = all
    ? `${countNoun(runs, 'run')} and ${countNoun(files, 'file')}, versions, triggers and keys`
    : countNoun(runs, 'run')
  const command = all ? 'reset --all' : 'reset'
  if (!mode.interactive) throw usageFailure(`${command} deletes ${lost}; not interactive.`, `svc ${command} --yes`)
  if (!all) return await io.prompts.confirm(`Delete ${lost}?`, signal)
  const typed = await io.prompts.text(`This deletes ${lost}. To continue, type ${workspace}:`, signal)
  return typed.trim() === workspace
}

async function refuseRunning({ dataDirectory, target, store }: Project): Promise<void> {
  if (store !== undefined)
    throw usageFailure('This is about the data directory, and SVC_STORE names a database.', 'Unset SVC_STORE.')
  if (target?.host !== undefined) throw usageFailure('This is done on the machine itself, not over ssh.')
  if (await answersOperator(dataDirectory))
    throw fail('store_locked', { directory: dataDirectory }, { fix: 'Stop the server that runs on it first.' })
}
