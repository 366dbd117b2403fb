import { isGated } from '../../facts/policies/authority.ts'
import { toolsOf, type ToolUse } from '../../facts/agents/bindings.ts'
import {
  agentCapabilitiesOf,
  capabilitiesOf,
  type ToolCapabilities,
  type CapabilityConfidence,
} from '../../facts/agents/capabilities.ts'
import { taintGateFix } from '../../facts/policies/taint-gate.ts'
import { closureOf, subAgentEdges } from '../../facts/agents/closure.ts'
import type { Document } from '../../text/document.ts'
import type { LintProject, LintRule } from '../../facts/rule.ts'

export const securityLethalTrifecta: LintRule = {
  severity: 'error',
  law: 'An agent has at most two of these three ungated: private data, untrusted content, an outbound channel (the Rule of Two).',
  fix: 'Gate the outbound channel, split the agent, or gate on `run.taint`.',
  reason:
    'Text from outside can then make the agent send private data out. The labels `svc/data`, `svc/content` and `svc/egress` of Tool documents declare the three.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const found = trifecta(project, document)
    // Reported at the agent that combines the three, not again at each agent that delegates to it.
    if (
      found === undefined ||
      subAgentEdges(project.workspace, document).some(({ child }) => child !== document && trifecta(project, child))
    )
      return
    const { egress, data, content, sure } = found
    report(
      pointerIn(project, document, egress),
      `${nameOf(egress)} can send out what ${nameOf(data)} reads, steered by what ${nameOf(content)} returns.`,
      {
        why: 'Whoever writes the content that the agent reads can have private data sent to themselves.',
        related: [data, content].map((use) => ({
          path: use.agent.path,
          range: use.agent.placeOf(`${use.pointer}/ref`).range,
          message: use === data ? 'private data' : 'untrusted content',
        })),
        ...(!sure && { severity: 'warning' }),
        fix:
          taintGateFix(project.workspace, egress) ??
          'Gate the outbound channel, split the agent, or gate on `run.taint`.',
      },
    )
  },
}

function trifecta(project: LintProject, agent: Document) {
  const closure = closureOf(project.workspace, agent)
  const data = pick(project, closure, 'private')
  const content = data && pick(project, closure, 'untrusted')
  const egress = content && pick(project, closure, 'egress')
  if (data === undefined || content === undefined || egress === undefined) return undefined
  return {
    data: data.use,
    content: content.use,
    egress: egress.use,
    sure: [data, content, egress].every(({ how }) => how === 'label'),
  }
}

/** The first ungated binding with a capability that a label declares, otherwise the first with a guessed one. */
function pick(project: LintProject, agents: readonly Document[], what: keyof ToolCapabilities) {
  let first: { readonly use: ToolUse; readonly how: CapabilityConfidence } | undefined
  for (const agent of agents) {
    if (!agentCapabilitiesOf(project.workspace, agent)[what]) continue
    for (const use of toolsOf(agent)) {
      const how = capabilitiesOf(project.workspace, use)[what]
      if (how === undefined || (what === 'egress' && isGated(project, use))) continue
      if (how === 'label') return { use, how }
      first ??= { use, how }
    }
  }
  return first
}

const nameOf = ({ ref, pointer }: ToolUse): string => ref?.id ?? pointer

/** Pointer to the binding, or to the delegation that leads to it. */
function pointerIn({ workspace }: LintProject, agent: Document, use: ToolUse): string {
  if (use.agent === agent) return `${use.pointer}/ref`
  const edge = subAgentEdges(workspace, agent).find(({ child }) => closureOf(workspace, child).includes(use.agent))
  return edge === undefined ? '/spec' : `${edge.pointer}/ref`
}
