/** The development loop: serves, watches, and publishes and deploys on every save without errors. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { CommandContext } from '../../shell/command.ts'
import { followServer } from '../../dev/follow.ts'
import type { HotkeyContext } from '../../dev/hotkeys.ts'
import { serveProject, type KeptByDev } from '../../dev/serve-project.ts'
import { createStatusArea } from '../../dev/status-area.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { openOperatorChannel } from '../../project/server/operator.ts'
import {
  answersOperator,
  deleteServerFile,
  readServerFile,
  type FoundServerFile,
} from '../../project/server/running-server.ts'
import { openProject, type Project } from '../../project/project.ts'
import type { readyAnswer, reloadAnswer, diagnosticLine } from '../../answers/serve.ts'
import type { ValueOf } from '../../../operations/schema.ts'

export async function dev(
  call: CommandContext<ValueOf<typeof readyAnswer> | ValueOf<typeof reloadAnswer> | ValueOf<typeof diagnosticLine>>,
): Promise<number> {
  const { given, cwd } = call
  const named = given.argument(0)
  const opened = await openProject(call, named === undefined ? undefined : resolve(cwd, named))
  const path = named === undefined ? opened.directory : resolve(cwd, named)
  const first = given.flag('ephemeral') ? undefined : await readServerFile(opened.dataDirectory)
  if (first && (await answersOperator(opened.dataDirectory)))
    return await attach(call, { project: opened, path }, first)
  const kept: KeptByDev = given.flag('ephemeral') ? { ephemeral: await mkdtemp(join(tmpdir(), 'svc-dev-')) } : {}
  try {
    let project: Project | undefined = opened
    while (project) project = await serveProject(call, project, path, kept)
  } finally {
    await kept.front?.close()
    if (kept.ephemeral !== undefined) {
      await deleteServerFile(opened.dataDirectory)
      await rm(kept.ephemeral, { recursive: true, force: true })
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
    await followServer({ ...at, call, operator, area }, ended.signal)
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
