import { isGated } from '../../facts/policies/authority.ts'
import { effectiveClass, toolsOf } from '../../facts/agents/bindings.ts'
import { agentCapabilitiesOf, capabilitiesOf } from '../../facts/agents/capabilities.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securityUntrustedSteersWrite: LintRule = {
  severity: 'warning',
  law: 'An agent that reads untrusted content has a gate on every write.',
  fix: 'Require an approval, or gate on `run.taint`.',
  reason: 'Text from outside can make the agent write.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    if (!agentCapabilitiesOf(workspace, document).untrusted) return
    const uses = toolsOf(document).map((use) => ({ use, can: capabilitiesOf(workspace, use) }))
    const source = uses.find(({ can }) => can.untrusted !== undefined)?.use
    if (source === undefined) return
    // With private data and an outbound channel, `security/lethal-trifecta` reports it.
    const trifecta = uses.some(({ can }) => can.private !== undefined)
    for (const { use, can } of uses) {
      const sideEffect = effectiveClass(workspace, use)
      if (use === source || sideEffect === undefined || sideEffect === 'read_only' || isGated(project, use)) continue
      if (trifecta && can.egress !== undefined) continue
      report(
        `${use.pointer}/ref`,
        `${source.ref?.id ?? 'A tool'} returns untrusted content, and ${use.ref?.id ?? 'this tool'} acts on it without a gate.`,
        {
          related: [
            {
              path: document.path,
              range: document.placeOf(`${source.pointer}/ref`).range,
              message: 'untrusted content',
            },
          ],
        },
      )
    }
  },
}
