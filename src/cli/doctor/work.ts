/** Checks of what should be going on: what operators have paused, and runs that an outage holds. */
import { isFailure } from '../../base/failure.ts'
import { HOLD_TEXTS } from '../../spec/hold.ts'
import { OUTAGE_REASONS } from '../../spec/outage.ts'
import type { PauseView, RunView } from '../../spec/operator-views.ts'
import { describePaused } from '../../spec/steer/pause.ts'
import { describeApprover } from '../../spec/view/task-card.ts'
import { withOperator, type OperatorClient } from '../project/operator.ts'
import type { Project } from '../project/project.ts'
import { hasRegistry } from '../project/registry.ts'
import { RemoteError } from '../shell/remote.ts'
import type { CommandContext } from '../shell/command.ts'
import { countNoun } from '../shell/counted.ts'
import { healthy, unhealthy, type DoctorChecks, type DoctorFinding } from './finding.ts'

export const workChecks: DoctorChecks = {
  paused: (call, project) =>
    askOperator(call, project, async (operator) => {
      const { items } = await operator.call('GET /pauses', { query: {} })
      if (items.length === 0) return healthy('nothing is paused')
      return unhealthy(items.map(describePause).join('; '), items.map(resumeCommand).join('; '))
    }),

  held: (call, project) =>
    askOperator(call, project, async (operator) => {
      const { items } = await operator.call('GET /runs', { query: { status: 'Running', take: '200' } })
      const held = items.filter(({ hold }) => hold && OUTAGES.has(hold.reason))
      if (held.length === 0) return healthy('no run is held by an outage')
      const reasons = [...new Set(held.map(({ hold }) => hold!.reason))]
      return unhealthy(
        reasons.map((reason) => describeCause(held, reason)).join('; '),
        'svc runs list --status Running',
      )
    }),
}

const OUTAGES: ReadonlySet<string> = new Set([...OUTAGE_REASONS, 'storage_full'])

/** What a store of this project tells; nothing where there is none, or where nobody can ask it. */
async function askOperator(
  call: Pick<CommandContext, 'io'>,
  project: Project | undefined,
  ask: (operator: OperatorClient) => Promise<DoctorFinding>,
): Promise<DoctorFinding> {
  if (!project || !hasRegistry(project)) return healthy('-')
  try {
    return await withOperator(project, call, ask)
  } catch (error) {
    // Other checks name what is wrong with the database, the server or the credential.
    if (isFailure(error) || error instanceof RemoteError) return healthy(`not known (${error.message})`)
    throw error
  }
}

/** `tool acme.refunds since 2026-11-23T09:12:00.000Z, by ana@acme.example (the bank called)` */
const describePause = (pause: PauseView): string =>
  `${describePaused(pause)} since ${pause.at}, by ${describeApprover(pause.by)}${pause.reason === null ? '' : ` (${pause.reason})`}`

const resumeCommand = ({ kind, name }: PauseView): string =>
  `svc stop --${kind}${kind === 'all' ? '' : ` ${name}`} --resume`

function describeCause(held: readonly RunView[], reason: string): string {
  const of = held.flatMap(({ hold }) => (hold?.reason === reason ? [hold] : []))
  const first = of.map(({ since }) => since).toSorted()[0]!
  const [next] = of.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []).toSorted()
  const runs = `${countNoun(of.length, 'run')} held since ${first}: ${HOLD_TEXTS[of[0]!.reason]}`
  return next === undefined ? runs : `${runs}; next attempt at ${next}`
}
