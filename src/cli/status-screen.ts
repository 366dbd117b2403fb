/** `svc` alone, on a terminal inside a project: server, waiting tasks, last run and three likely next commands. */
import type { OperatorRoutes } from '../operations/operations.ts'
import { describePaused, resumeCommandOf } from '../spec/steer/pause.ts'
import { createScreen } from '../terminal/screen.ts'
import { wrapMessage } from '../terminal/message.ts'
import { safeText } from '../base/text/escape-text.ts'
import { styleOfStatus, type Theme } from '../terminal/theme.ts'
import { shortId } from '../base/text/short-text.ts'
import { formatRelative } from '../terminal/time.ts'
import { startCommandOf } from './runs/example-input.ts'
import type { Io } from './shell/io.ts'
import type { OutputMode } from './shell/mode.ts'
import { askRunning } from './project/server/running-server.ts'
import { openProject } from './project/project.ts'

const SERVER_TIMEOUT_MS = 1000
/** Before the end of a deployment. */
const WARN_BEFORE_MS = 14 * 24 * 3_600_000

/** False where no project can be read; the caller then prints the short help. */
export async function showStatus(io: Io, mode: OutputMode): Promise<boolean> {
  const project = await openProject({ cwd: io.cwd, globals: {}, io }).catch(() => undefined)
  if (project?.file === undefined) return false
  const screen = createScreen(io.stdout, mode.color.stdout)
  const { theme } = screen
  const printWrapped = (...lines: readonly string[]): void =>
    screen.lines(...lines.map((line) => wrapMessage(line, screen.width)))
  const ask = async <R extends keyof OperatorRoutes>(path: string): Promise<OperatorRoutes[R]['answer']> =>
    (await askRunning(project.dataDirectory, path, SERVER_TIMEOUT_MS)) as OperatorRoutes[R]['answer']
  const status = await ask<'GET /status'>('/status').catch(() => undefined)
  if (!status) {
    printWrapped(
      `${theme.name(safeText(project.workspace))} · ${theme.dim('no server')}`,
      ...steps(theme, [
        ['svc dev', 'serve, watch and redeploy'],
        ['svc lint', 'check the documents'],
        ['svc help --tree', 'everything'],
      ]),
    )
    return true
  }
  const [agents, tasks, runs, pauses] = await Promise.all([
    ask<'GET /agents'>('/agents'),
    ask<'GET /tasks'>('/tasks'),
    ask<'GET /runs'>('/runs?take=50'),
    ask<'GET /pauses'>('/pauses'),
  ])
  const deployed = agents.items.flatMap((agent) =>
    agent.deployed ? [{ ...agent, label: `${agent.name}@${agent.deployed.versionLabel}` }] : [],
  )
  const names = deployed.map(({ label }) => label)
  const last = runs.items.find(({ parentRunId }) => parentRunId === null)
  const port = status.url === null ? '' : ` (${new URL(status.url).port})`
  const waiting = `${tasks.total} ${tasks.total === 1 ? 'task' : 'tasks'} waiting`
  printWrapped(
    [
      theme.name(safeText(names.join(', ') || project.workspace)),
      `${theme.ok('server up')}${port}`,
      tasks.total > 0 ? theme.waiting(waiting) : 'nothing waits',
    ].join(' · '),
  )
  if (pauses.items.length > 0)
    printWrapped(theme.waiting(safeText(`  paused: ${pauses.items.map(describePaused).join(', ')}`)))
  for (const { label, deployed: active } of deployed) {
    const ends = active?.expiresAt == null ? Infinity : Date.parse(active.expiresAt)
    if (ends > io.clock.now() + WARN_BEFORE_MS) continue
    const what = ends <= io.clock.now() ? 'has ended: no run starts on it' : 'ends'
    printWrapped(
      theme.waiting(safeText(`  the deployment of ${label} ${what} ${formatRelative(ends, io.clock.now())}`)),
    )
  }
  if (last)
    printWrapped(
      `  last run ${shortId(last.runId)}  ${styleOfStatus(theme, last.status)(last.status)}  ${formatRelative(Date.parse(last.startedAt), io.clock.now())}`,
    )
  printWrapped(
    ...steps(theme, [
      ...(tasks.total > 0 ? [['svc inbox', 'answer what waits'] as const] : []),
      ...pauses.items.slice(0, 1).map((pause) => [resumeCommandOf(pause), 'end the pause'] as const),
      ...deployed
        .slice(0, 1)
        .map((agent) => [startCommandOf(agent.name, agent.model, agent.inputContract), 'start a run'] as const),
      ...(deployed.length === 0 ? [['svc publish --deploy', 'make a version that can run'] as const] : []),
      ...(tasks.total === 0 && last ? [['svc runs conversation @last', 'what the last run did'] as const] : []),
      ['svc help --tree', 'everything'],
    ]),
  )
  return true
}

function steps({ dim }: Theme, lines: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...lines.map(([command]) => command.length))
  return lines.map(([command, summary]) => `  ${command.padEnd(width)}   ${dim(summary)}`)
}
