import { attachmentsOf, scopeOf } from '../../facts/policies/attachments.ts'
import { effectiveClass, toolsOf, type ToolUse } from '../../facts/agents/bindings.ts'
import {
  authorityOver,
  boundariesOf,
  gateEffectOf,
  isStopped,
  stopsOrdinaryCalls,
} from '../../facts/policies/authority.ts'
import { closureOf, subAgentEdges } from '../../facts/agents/closure.ts'
import type { Document } from '../../text/document.ts'
import type { LintProject, LintRule } from '../../facts/rule.ts'

export const subagentWidensAuthority: LintRule = {
  severity: 'error',
  law: 'A sub-agent cannot do ungated what the policies of its parent gate.',
  fix: 'Gate the tool in the sub-agent too, or make the policy one of a boundary: boundaries reach sub-agents.',
  reason: 'Otherwise an agent delegates what it may not do itself.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    const edges = subAgentEdges(workspace, document).filter(({ child }) => child !== document)
    if (edges.length === 0) return
    for (const edge of edges) {
      const open = closureOf(workspace, edge.child)
        .filter((each) => each !== document)
        .flatMap((each) => toolsOf(each).filter((use) => isOpen(project, use)))
      if (open.length === 0) continue
      const gated = gatedHere(project, document)
      for (const use of open) {
        const gate = use.ref && gated.get(use.ref.id)
        if (use.ref === undefined || gate === undefined) continue
        const child = use.agent.identity?.id ?? use.agent.path
        report(
          `${edge.pointer}/ref`,
          `${gate.identity?.id ?? 'A policy'} gates ${use.ref.id} here, but ${child} calls it ungated.`,
          {
            related: [
              { path: use.agent.path, range: use.agent.placeOf(`${use.pointer}/ref`).range, message: 'ungated here' },
            ],
          },
        )
      }
    }
  },
}

/** Gates of the agent itself, by the tool they gate, without those that also apply to its sub-agents. */
function gatedHere(project: LintProject, agent: Document): ReadonlyMap<string, Document> {
  const { workspace } = project
  const reaching = new Set(boundariesOf(workspace, agent).flatMap(({ policies }) => policies))
  const gated = new Map<string, Document>()
  for (const { binding, policies } of attachmentsOf(workspace, agent))
    for (const policy of policies) {
      if (!stopsOrdinaryCalls(policy) || reaching.has(policy)) continue
      const scope = scopeOf(policy)
      if (scope !== undefined) gated.set(scope, policy)
      for (const use of toolsOf(agent))
        if (binding === use && (scope ?? use.ref?.id) === use.ref?.id && use.ref) gated.set(use.ref.id, policy)
    }
  return gated
}

/** True when certainly no policy gates the calls. */
function isOpen(project: LintProject, use: ToolUse): boolean {
  if (isStopped(project, use)) return false
  return (
    effectiveClass(project.workspace, use) !== 'irreversible_action' ||
    authorityOver(project, use).policies.some((policy) => gateEffectOf(policy) === 'grant')
  )
}
