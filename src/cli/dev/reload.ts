/** What a save does in `svc dev`, and what is said of it. */
import { isDeepStrictEqual } from 'node:util'
import { relative } from 'node:path'
import type { CommandContext } from '../shell/command.ts'
import { openProject, type Project } from '../project/project.ts'
import type { VersionChange } from '../../authority/change.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { wrapText } from '../../terminal/text.ts'
import { timeOfDay } from '../../terminal/time.ts'
import { changeLines } from '../release/changes.ts'
import type { StatusArea } from './status-area.ts'
import { messageScreen } from '../shell/screen/list.ts'
import { printFindings } from '../release/findings.ts'
import { describeCommandError, formatCommandError } from '../shell/exit.ts'
import type { SnapshotSave } from '../release/snapshots.ts'
import type { reloadAnswer, diagnosticLine } from '../answers/serve.ts'
import type { ValueOf } from '../../operations/schema.ts'

/**
 * Publishes a save. Prints why one cannot be published; the deployed version then stays.
 * @returns the project where the save changed its settings, which counts before all else; undefined otherwise
 */
export async function publishSave(
  call: CommandContext<ValueOf<typeof reloadAnswer> | ValueOf<typeof diagnosticLine>>,
  project: Project,
  save: () => Promise<SnapshotSave & { readonly mended: boolean }>,
  differences: (next: SnapshotSave) => Promise<readonly VersionChange[]>,
  paths: readonly string[],
  area: StatusArea | null,
): Promise<Project | undefined> {
  const { mode, out, io } = call
  const since = io.clock.monotonic()
  const changed = paths.map((path) => relative(project.directory, path).replaceAll('\\', '/'))
  try {
    const settings = await readChangedSettings(call, project, paths)
    if (settings) {
      out.message(`${timeOfDay(io.clock.now())}  changed ${safeText(changed.join(', '))}; starting again`)
      return settings
    }
    const saving = await save()
    await tellDiagnostics(call, saving)
    area?.setProblem(describeFindings(saving))
    if (changed.some((name) => DOT_ENV.test(name)))
      out.message(
        `${timeOfDay(io.clock.now())}  read ${safeText(changed.join(', '))}; secrets count from the next call`,
      )
    if (saving.saved?.unchanged && saving.mended && !mode.json)
      out.message(`${timeOfDay(io.clock.now())}  clean again; ${saving.saved.version} stays deployed`)
    if (!saving.saved || saving.saved.unchanged) return undefined
    const { agent, version: deployed } = saving.saved
    const ms = Math.round(io.clock.monotonic() - since)
    // Deploys first: the comparison may take longer.
    const changes = await differences(saving)
    if (mode.json) {
      await out.ndjson({ type: 'reload', changed, agent, version: deployed, ms, changes })
      return undefined
    }
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
  return undefined
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
export function describeFindings({ build: { findings } }: SnapshotSave): string | undefined {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (!first) return undefined
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
  return `${first.path}:${first.range.start.line}: ${first.message}${more}`
}

export async function tellDiagnostics(
  call: CommandContext<ValueOf<typeof diagnosticLine>>,
  { build: { findings, workspace } }: SnapshotSave,
): Promise<void> {
  const worth = findings.filter(({ severity }) => severity !== 'info')
  if (call.mode.json) for (const each of worth) await call.out.ndjson({ type: 'diagnostic', ...each })
  else printFindings(call, worth, workspace)
}

const DOT_ENV = /^\.env(?:\.local)?$/

/**
 * The project as its file says now, where that is something else than the running server was started with: programs, handlers, hosts and
 * limits are taken once. Undefined where the file did not change, or only a comment in it.
 * @throws Failure `config_invalid`, `file_missing`, `file_unusable`
 */
async function readChangedSettings(
  call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  project: Project,
  changed: readonly string[],
): Promise<Project | undefined> {
  if (project.file === undefined || !changed.includes(project.file)) return undefined
  const now = await openProject(call, project.file)
  return isDeepStrictEqual(now.config, project.config) ? undefined : now
}
