/** The status of one run as fields, and words for statuses that a person types. */
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { RunStatus } from '../../client/index.ts'
import type { PendingAnswer } from '../../spec/api.ts'
import { describeHold } from '../../spec/run/hold.ts'
import type { PauseView } from '../../operations/pauses.ts'
import type { RunHolders } from '../../operations/runs.ts'
import type { UndoPlanView } from '../../operations/steering.ts'
import { describeCost } from '../../spec/price.ts'
import { isTerminal, RUN_STATUSES } from '../../spec/run/run.ts'
import { resumeCommandOf } from '../../spec/steer/pause.ts'
import { describePauseAct } from '../../view/pause-words.ts'
import { describeUndone } from '../../view/undo.ts'
import { formatDuration } from '../../terminal/time.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { countNoun } from '../shell/counted.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import { usageFailure } from '../../base/usage-failure.ts'

export interface RunStatusExtras {
  /** Set for an ended run if an operator asks. */
  readonly plan: UndoPlanView | undefined
  /** What holds it, if an operator asks. */
  readonly holders: RunHolders | undefined
  /** What `readAwaitedSignals` found. */
  readonly signals: readonly string[]
  readonly showTime: (iso: string) => string
}

/** What holds a run that has not ended; undefined where only a key asks, or nothing does. */
export async function readHolders(
  operator: OperatorClient | undefined,
  { runId, status }: RunStatus,
): Promise<RunHolders | undefined> {
  if (!operator || isTerminal(status)) return undefined
  const holders = await operator.call('GET /runs/:id/holders', { id: runId })
  return holders.pauses.length + holders.outages.length === 0 ? undefined : holders
}

export const runStatusFields = (run: RunStatus, { plan, holders, signals, showTime }: RunStatusExtras) => [
  { key: 'run', value: run.runId },
  { key: 'status', value: run.status },
  { key: 'held', value: run.hold && describeHold(run.hold, showTime) },
  ...(holders?.pauses ?? []).map((pause) => ({ key: 'paused', value: describePauseEnd(pause, showTime) })),
  ...(holders?.outages ?? []).map((outage) => ({ key: 'out of reach', value: describeOutage(outage, run, showTime) })),
  ...signals.map((signal) => ({ key: 'signal', value: signal })),
  ...(run.pending ?? []).map((each) => ({ key: 'waits', value: describePending(each) })),
  { key: 'version', value: run.versionLabel },
  { key: 'output', value: run.output === null ? undefined : safeJson(run.output) },
  { key: 'error', value: run.error === undefined ? undefined : safeText(run.error) },
  { key: 'undoes', value: run.undoOf && `a call of run ${run.undoOf}` },
  { key: 'undone', value: plan && describeUndone(plan) },
  { key: 'started', value: run.startedAt },
  {
    key: 'took',
    value: run.finishedAt === null ? undefined : formatDuration(Date.parse(run.finishedAt) - Date.parse(run.startedAt)),
  },
  { key: 'tokens', value: String(run.totalTokensUsed) },
  { key: 'cost', value: run.cost && describeCost(run.cost) },
]

/** `tool acme.refunds since TIME, by operator ana (the bank called); svc stop --tool acme.refunds --resume ends it` */
export const describePauseEnd = (pause: PauseView, showTime: (iso: string) => string): string =>
  safeText(`${describePauseAct(pause, showTime)}; ${resumeCommandOf(pause)} ends it`)

/** `provider anthropic, since 10:31, 4 attempts; the run fails if that lasts until 10:31 tomorrow` */
function describeOutage(
  { runId, cause, since, failures, until }: RunHolders['outages'][number],
  run: RunStatus,
  showTime: (iso: string) => string,
): string {
  const whose = runId === run.runId ? 'the run' : `its sub-agent run ${shortId(runId)}`
  const attempts = countNoun(failures, 'attempt')
  return safeText(
    `${cause}, since ${showTime(since)}, ${attempts}; ${whose} fails if that lasts until ${showTime(until)}`,
  )
}

/** `approval of refunds (svc approve 9c1e77)` */
function describePending({ kind, runId, userTaskId, prompt, call }: PendingAnswer): string {
  if (userTaskId === undefined) return safeText(`${kind}: ${prompt} (svc send ${shortId(runId)} TEXT)`)
  const verb = kind === 'approval' || kind === 'escalation' ? 'approve' : 'answer'
  return safeText(`${kind}${call ? ` of ${call.name}` : `: ${prompt}`} (svc ${verb} ${shortId(userTaskId)})`)
}

/**
 * The statuses of `--status`, one by one or separated by commas, in either case.
 * @throws Failure `usage` for a word that is no status: it would find nothing.
 */
export function readRunStatuses(given: readonly string[]): string[] {
  return given
    .flatMap((text) => text.split(','))
    .map((text) => {
      const known = RUN_STATUSES.find((each) => each.toLowerCase() === text.trim().toLowerCase())
      if (known !== undefined) return known
      const fix = suggestWord(
        text,
        RUN_STATUSES,
        `Statuses are ${RUN_STATUSES.join(', ')}.`,
        (word) => `--status ${word}`,
      )
      throw usageFailure(`"${text}" is no status of a run.`, fix)
    })
}
