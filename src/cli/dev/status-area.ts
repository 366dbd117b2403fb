/** Keeps the status area of `svc dev` below its log, on a terminal that can be redrawn. */
import type { InboxItem } from '../../operations/tasks.ts'
import type { RunView } from '../../operations/runs.ts'
import { describePaused } from '../../spec/steer/pause.ts'
import { describeOperator } from '../../view/task/task-people.ts'
import { describeSubject } from '../../view/task/task-subject.ts'
import { readInboxItem } from '../../view/task/task-content.ts'
import { drawDevStatus, type DevStatus } from '../../terminal/dev-status.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { CommandContext } from '../shell/command.ts'
import { messageScreen } from '../shell/screen/list.ts'

export interface StatusArea {
  /** Asks the server for what waits and what is deployed, and draws. */
  refresh(operator: OperatorClient, runs: readonly RunView[]): Promise<void>
  /** Authority that the last save added; empty if it added none. */
  setWider(changes: readonly string[]): void
  /** Undefined once the problem is solved. */
  setProblem(problem: string | undefined): void
  /** Fires when a refresh no longer finds the task, because somebody else decided it. */
  whenDecided(taskId: string): AbortSignal
  /** Makes room for a card or a question until the work is done. */
  without<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

export const DEV_KEYS: readonly string[] = ['[r]erun', '[a]nswer', '[l]int', '[h]elp', '[q]uit']

/** Null where nothing is redrawn: in a pipe, with `--json`, and for a screen reader. */
export function createStatusArea(call: CommandContext): StatusArea | null {
  const { mode, io } = call
  if (!mode.interactive || mode.json || mode.accessible) return null
  const screen = messageScreen(call)
  let status: DevStatus | undefined
  let wider: readonly string[] = []
  let problem: string | undefined
  let isClosed = false
  let hidden = 0
  /** The task whose card is open. */
  let opened: { readonly id: string; readonly decided: AbortController } | undefined
  const draw = (): void => {
    if (isClosed || hidden > 0 || !status) return
    screen.status(
      ...drawDevStatus(screen, { ...status, wider, ...(problem !== undefined && { problem }) }, io.clock.now()),
    )
  }
  const stopListening = io.onResize?.(draw)
  return {
    async refresh(operator, runs) {
      const [server, tasks, agents, pauses] = await Promise.all([
        operator.call('GET /status', {}),
        operator.call('GET /tasks', { query: {} }),
        operator.call('GET /agents', { query: {} }),
        operator.call('GET /pauses', { query: {} }),
      ])
      if (!tasks.items.some(({ userTaskId }) => userTaskId === opened?.id)) opened?.decided.abort()
      status = {
        url: server.url ?? 'starting',
        operator: describeOperator(server.operator),
        versions: agents.items.flatMap(({ name, deployed }) => (deployed ? [`${name}@${deployed.versionLabel}`] : [])),
        running: runs.filter((run) => run.status === 'Running').length,
        waiting: tasks.items.map(toLine),
        paused: pauses.items.map(describePaused),
        wider: [],
        keys: DEV_KEYS,
      }
      draw()
    },
    setWider(changes) {
      wider = changes
      draw()
    },
    setProblem(text) {
      problem = text
      draw()
    },
    whenDecided(taskId) {
      opened = { id: taskId, decided: new AbortController() }
      return opened.decided.signal
    },
    async without(work) {
      hidden++
      screen.status()
      try {
        return await work()
      } finally {
        hidden--
        draw()
      }
    },
    close() {
      isClosed = true
      stopListening?.()
      screen.status()
    },
  }
}

function toLine(item: InboxItem): DevStatus['waiting'][number] {
  const task = readInboxItem(item)
  return {
    what: describeSubject(task),
    ...(item.expiresAt !== null && { expiresAt: Date.parse(item.expiresAt) }),
  }
}
