/** The status of one run as fields, and words for statuses that a person types. */
import { safeJson, safeText } from '../../base/escape-text.ts'
import { shortId } from '../../base/short-text.ts'
import type { RunStatus } from '../../client/index.ts'
import type { PendingAnswer } from '../../spec/api.ts'
import { describeHold } from '../../spec/hold.ts'
import type { UndoPlanView } from '../../spec/operator/undo.ts'
import { describeCost } from '../../spec/price.ts'
import { RUN_STATUSES } from '../../spec/run.ts'
import { describeUndone } from '../../spec/view/undo.ts'
import { formatDuration } from '../../terminal/time.ts'
import { suggestWord } from '../shell/nearest.ts'
import { usageFailure } from '../shell/usage-failure.ts'

export interface RunStatusExtras {
  /** Set for an ended run if an operator asks. */
  readonly plan: UndoPlanView | undefined
  /** What `readAwaitedSignals` found. */
  readonly signals: readonly string[]
  readonly showTime: (iso: string) => string
}

export const runStatusFields = (run: RunStatus, { plan, signals, showTime }: RunStatusExtras) => [
  { key: 'run', value: run.runId },
  { key: 'status', value: run.status },
  { key: 'held', value: run.hold && describeHold(run.hold, showTime) },
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
