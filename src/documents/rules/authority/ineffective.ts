import { scopeOf } from '../../facts/policies/attachments.ts'
import { boundariesOf } from '../../facts/policies/authority.ts'
import { subAgentsOf, subAgentDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { closureOf } from '../../facts/agents/closure.ts'
import type { Document } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const authorityIneffective: LintRule = {
  severity: 'error',
  law: 'The policies of a boundary apply to a tool of the agent or of its sub-agents.',
  fix: 'Correct the scope of its policies.',
  reason: 'The boundary would appear in reviews and stop nothing.',
  source: 'Authoring format, "What the service does", 3',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const { id, pointer, policies } of boundariesOf(workspace, document)) {
      const [first] = policies
      if (first === undefined || policies.some((policy) => mayConcern(workspace, document, scopeOf(policy)))) continue
      const scopes = [...new Set(policies.flatMap((policy) => scopeOf(policy) ?? []))]
      report(
        pointer,
        `The boundary "${id}" changes no decision: its policies apply to ${scopes.join(', ')}, which this agent never calls.`,
        {
          subject: [id, ...scopes],
          related: [{ path: first.path, range: first.placeOf('/spec/scope').range, message: 'its scope' }],
        },
      )
    }
  },
}

/** True when the agent or one of its sub-agents calls a tool; the bindings of external sub-agents are unknown. */
const mayConcern = (workspace: Workspace, agent: Document, tool: string | undefined): boolean =>
  tool === undefined ||
  closureOf(workspace, agent).some(
    (each) =>
      toolsOf(each).some(({ ref }) => ref?.id === tool) ||
      subAgentsOf(each).some((edge) => subAgentDocument(workspace, edge) === undefined),
  )
