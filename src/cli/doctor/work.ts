/** Checks for work that stands still, agents that operators have paused and runs that an outage holds, and for who may approve it. */
import { isFailure } from '../../base/failure.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { NoticeView } from '../../operations/notices.ts'
import { resumeCommandOf } from '../../spec/steer/pause.ts'
import { describePauseAct } from '../../view/pause-words.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { withOperatorOf } from '../project/server/operator.ts'
import type { Project } from '../project/project.ts'
import { hasRegistry } from '../project/registry.ts'
import { findTriggerFaults } from '../runs/trigger-faults.ts'
import { describeHeldRuns, readHeldRuns, timesFor } from '../runs/held.ts'
import { RemoteError } from '../../client/remote-error.ts'
import type { CommandContext } from '../shell/command.ts'
import { healthy, unhealthy, unknownProject, type DoctorChecks, type DoctorFinding } from './finding.ts'

export const workChecks: DoctorChecks = {
  paused: (call, project) =>
    askOperator(call, project, async (operator) => {
      const { items } = await operator.call('GET /pauses', { query: {} })
      if (items.length === 0) return healthy('nothing is paused')
      return unhealthy(items.map((pause) => describePauseAct(pause)).join('; '), items.map(resumeCommandOf).join('; '))
    }),

  held: (call, project) =>
    askOperator(call, project, async (operator) => {
      const held = await readHeldRuns(operator)
      if (held.length === 0) return healthy('no run is held by an outage')
      return unhealthy(
        held.map((each) => describeHeldRuns(each, timesFor(call.io.stdout, call.io.clock))).join('; '),
        'svc runs list --status Running',
      )
    }),

  notices: (call, project) =>
    askOperator(call, project, async (operator) => {
      const { items, total } = await operator.call('GET /notices', { query: { state: 'dead', take: '1' } })
      if (total === 0) return healthy('every notice was delivered, or is tried again')
      const [{ channel, error }] = items as readonly [NoticeView]
      const why = safeText(error ?? 'no try is left')
      return unhealthy(`${total} notices could not be delivered, the newest to ${channel}: ${why}`, 'svc notify retry')
    }),

  triggers: (call, project) =>
    askOperator(call, project, async (operator) => {
      const { items } = await operator.call('GET /triggers', { query: {} })
      const faults = items.filter(({ active }) => active).flatMap(findTriggerFaults)
      const fixes = new Set(faults.flatMap(({ fix }) => fix ?? []))
      if (faults.length > 0)
        return unhealthy(faults.map(({ what }) => what).join('; '), fixes.size === 0 ? undefined : [...fixes].join(' '))
      const approving = items.filter(({ allowApprovals }) => allowApprovals)
      if (approving.length === 0) return healthy('no key approves what its trigger starts')
      const names = approving.map(({ agent, name }) => `${agent} / ${name}`).join(', ')
      return healthy(
        `keys approve what they start, as told: ${names} (svc triggers update TRIGGER --no-allow-approvals)`,
      )
    }),
}

/** The answer of this project's store; undefined where there is none or it cannot be reached. */
async function askOperator(
  call: Pick<CommandContext, 'io'>,
  project: Project | undefined,
  ask: (operator: OperatorClient) => Promise<DoctorFinding>,
): Promise<DoctorFinding> {
  if (!project) return unknownProject
  if (!hasRegistry(project)) return healthy('-')
  try {
    return await withOperatorOf(project, call, ask)
  } catch (error) {
    if (isFailure(error)) return unhealthy(`not known: ${error.message}`, error.fix)
    if (error instanceof RemoteError) return unhealthy(`not known: ${error.message}`)
    throw error
  }
}
