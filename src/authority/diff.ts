/**
 * What one version may do that another could not, and everything else that differs.
 * Source: docs/design/prover.md#comparing-two-versions
 */
import { finishWork, type DividedWork } from '../base/event-loop.ts'
import { agentChanges } from './agent.ts'
import { callChanges, newAgentChanges } from './calls.ts'
import { versionChange, differenceOf, type VersionChange, type VersionDifference } from './change.ts'
import type { ComparedClosure } from './closure.ts'

/** Compares two closures agent by agent. Agents match by id. */
export const diffClosures = (before: ComparedClosure, after: ComparedClosure): VersionDifference =>
  finishWork(compareClosures(before, after))

/** As `diffClosures`, one call per step: a server answers others in between. */
export function* compareClosures(before: ComparedClosure, after: ComparedClosure): DividedWork<VersionDifference> {
  const changes: VersionChange[] = []
  if (before.root.id !== after.root.id)
    changes.push(
      versionChange('agent.replaced', {
        agent: after.root.id,
        from: before.root.id,
        to: after.root.id,
        say: `the root is another agent: ${before.root.id} → ${after.root.id}`,
      }),
    )
  for (const agent of after.agents.values()) {
    const earlier = before.agents.get(agent.id)
    if (!earlier) changes.push(...newAgentChanges(after, agent))
    // An unchanged agent may have other ancestors, whose gates apply to it.
    else {
      const pair = { before: { closure: before, agent: earlier }, after: { closure: after, agent } }
      changes.push(...(yield* callChanges(pair)))
      changes.push(...agentChanges(earlier, agent))
    }
    yield
  }
  const { root } = after
  if (changes.length === 0 && before.root.digest !== root.digest)
    changes.push(
      versionChange('content.changed', {
        agent: root.id,
        from: before.root.digest,
        to: root.digest,
        say: 'only the version, or names of policies',
      }),
    )
  return differenceOf(changes)
}
