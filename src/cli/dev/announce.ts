/** What `svc dev` says when it starts, and of what its server logs. */
import { join, relative } from 'node:path'
import { fromJson } from '../../base/json/typed-json.ts'
import type { Log } from '../../base/log.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { OperatorAnswer } from '../../operations/operations.ts'
import type { TriggerView } from '../../operations/triggers.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { CommandContext } from '../shell/command.ts'
import type { StatusArea } from './status-area.ts'
import { describeRefusedTick, REFUSED_TICK, type RefusedTick } from '../../server/runtime/schedule.ts'
import { startCommandOf } from '../runs/example-input.ts'
import { nextTimes } from './next-times.ts'
import type { Project } from '../project/project.ts'
import { checksOfAgent } from '../project/secret-checks.ts'
import { readyLine } from '../project/open-server.ts'
import type { SavedSnapshots } from '../release/snapshots.ts'
import { packageVersion } from '../shell/version.ts'
import type { readyAnswer } from '../answers/serve.ts'
import type { ValueOf } from '../../operations/schema.ts'
import { isIdentified } from '../../documents/text/document.ts'

export async function announceServer(
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
export function tellMissingSecrets(
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

/** Logs errors only, with the first line of their cause, and why a schedule starts nothing. */
export const quietLog = (out: CommandContext['out'], area: StatusArea | null): Log => ({
  write(level, message, about) {
    if (message === REFUSED_TICK) out.message(safeText(`warn: ${describeRefusedTick(fromJson<RefusedTick>(about))}`))
    else if (level === 'warn' || level === 'error') out.message(safeText(`${level}: ${message}${causeIn(about)}`))
    if (level === 'error') area?.setProblem(message)
  },
})

/** `: TypeError: …` from the values of a log line; empty where they name no cause. The log file of the server has all of it. */
function causeIn(about: Parameters<Log['write']>[2]): string {
  const cause = about?.['detail'] ?? about?.['error']
  return typeof cause === 'string' ? `: ${cause.split('\n', 1)[0]}` : ''
}
