/** The final output of a command that followed a run, and its exit code. Source: docs/design/command-line.md#exit-codes */
import { isoOrNull } from '../../base/clock.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { isTerminal, isWaiting, type RunStatus, type StreamEvent } from '../../client/index.ts'
import { describeCost, type CostSum } from '../../spec/price.ts'
import { safeBlock, safeText } from '../../base/text/escape-text.ts'
import { formatDuration } from '../../terminal/time.ts'
import type { CommandContext } from '../shell/command.ts'
import type { FollowEnd } from './follow.ts'
import { answerCommand } from './describe-answer.ts'
import { describeTask } from './wait-handler.ts'
import { Interrupted } from '../shell/io.ts'

/** What `--json` prints of a run that was followed. */
export interface RunOutcome {
  readonly runId: string
  readonly sessionId: string
  readonly status: string
  readonly output: JsonValue
  readonly error?: string
  readonly totalTokensUsed: number
  readonly cost?: CostSum
  readonly durationMs: number
  /** The task that the run waits for. */
  readonly task?: {
    readonly userTaskId: string
    readonly kind: string
    readonly tool?: string
    readonly args?: JsonValue
    readonly expiresAt: string | null
  }
}

/** The last line if events were printed before it. */
export interface RunResultLine extends RunOutcome {
  readonly type: 'result'
}

/** Everything that a command which follows a run may print. */
export type FollowAnswer = RunOutcome | RunResultLine | StreamEvent

/** stdout gets the output and nothing else. */
export async function printOutcome(
  call: CommandContext<RunOutcome | RunResultLine>,
  followed: FollowEnd,
  events: boolean,
): Promise<number> {
  const { mode, out } = call
  const { run, task, gaveUp } = followed
  if (mode.json) {
    const result = resultOf(call, followed)
    await (events ? out.ndjson({ type: 'result', ...result }) : out.json(result))
  }
  const id = run.runId.slice(-6)
  if (isTerminal(run.status)) {
    if (run.status !== 'Completed') {
      out.message(`error[${run.errorCode ?? 'failed'}]: ${safeText(run.error ?? `The run is ${run.status}.`)}`)
      out.hint(`  see:  svc runs conversation ${id}`)
      return 1
    }
    if (!mode.json) out.line(typeof run.output === 'string' ? safeOutput(call, run.output) : JSON.stringify(run.output))
    const cost = run.cost && describeCost(run.cost)
    const parts = [
      `completed in ${formatDuration(durationOf(call, run))}`,
      `${run.totalTokensUsed} tokens`,
      ...(cost === undefined ? [] : [cost]),
    ]
    out.hint(parts.join(' · '))
    return 0
  }
  if (gaveUp) {
    out.message(`gave up waiting; run ${id} continues`)
    out.hint(`  see:  svc runs watch ${id}`)
    return 9
  }
  if (task) out.message(`waiting for ${describeTask(task)}. Answer with: ${answerCommand(task.kind, task.id)}`)
  else if (run.status === 'WaitingForResponse') out.message(`waiting for a reply. Answer with: svc send ${id} "…"`)
  else out.message(`waiting for a person, by a task that this key cannot see. Answer with: svc inbox`)
  return 3
}

/** The exit code for a status. */
export function exitOfStatus(status: string): number {
  if (status === 'Completed') return 0
  if (isTerminal(status)) return 1
  return isWaiting(status) ? 3 : 0
}

/**
 * After Ctrl-C while following, prints that the run continues and how to return. Throws any other error again.
 * @param error of the aborted request, or `Interrupted` from a prompt, where raw mode sends no signal
 */
export function printInterrupted(call: CommandContext, runId: string, error: unknown): number {
  const reason: unknown = call.signal.aborted ? call.signal.reason : error
  if (!(reason instanceof Interrupted)) throw reason
  call.out.message(`run ${runId.slice(-6)} continues; come back with: svc runs watch ${runId.slice(-6)}`)
  return reason.signal === 'SIGINT' ? 130 : 143
}

function resultOf(call: CommandContext, { run, task }: FollowEnd): RunOutcome {
  const { runId, sessionId, status, output, error, totalTokensUsed, cost } = run
  return {
    runId,
    sessionId,
    status,
    output,
    ...(error !== undefined && { error }),
    totalTokensUsed,
    ...(cost && { cost }),
    durationMs: durationOf(call, run),
    ...(task && {
      task: {
        userTaskId: task.id,
        kind: task.kind,
        ...(task.tool && { tool: task.tool.ref }),
        ...(task.arguments !== undefined && { args: task.arguments }),
        expiresAt: isoOrNull(task.expiresAt),
      },
    }),
  }
}

/** Duration so far, for a run that has not ended. */
const durationOf = ({ io }: CommandContext, { startedAt, finishedAt }: RunStatus): number =>
  Math.max(0, (finishedAt === null ? io.clock.now() : Date.parse(finishedAt)) - Date.parse(startedAt))

/** Pipes get the model's text unchanged; on a terminal control sequences are escaped. */
const safeOutput = ({ io }: CommandContext, text: string): string => (io.stdout.isTTY ? safeBlock(text) : text)
