import { isGated } from '../../facts/authority.ts'
import { effectiveClass, toolsOf } from '../../facts/bindings.ts'
import { abilitiesOf, capabilitiesOf } from '../../facts/capabilities.ts'
import type { LintRule } from '../../facts/rule.ts'

export const untrustedSteersWrite: LintRule = {
  name: 'security/untrusted-steers-write',
  severity: 'warning',
  law: 'An agent that reads what strangers write changes nothing without a gate.',
  fix: 'Require an approval, or gate on `run.taint`.',
  source: 'Security, S16; policies, section 2: `run.taint`',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: inbox.read@^1}, {ref: ticket.close@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml':
      'kind: Tool\nmetadata: {name: read, namespace: inbox, version: "1.0.0", labels: {svc/content: untrusted}}\nspec: {side_effect_class: read_only}\n---\nkind: Tool\nmetadata: {name: close, namespace: ticket, version: "1.0.0"}\nspec: {side_effect_class: idempotent_write}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: inbox.read@^1}, {ref: ticket.close@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml':
      'kind: Tool\nmetadata: {name: read, namespace: inbox, version: "1.0.0", labels: {svc/content: untrusted}}\nspec: {side_effect_class: read_only}\n---\nkind: Tool\nmetadata: {name: close, namespace: ticket, version: "1.0.0"}\nspec: {side_effect_class: idempotent_write}\n',
    'policy.yaml':
      'kind: Policy\nspec: {conditions: {field: run.taint, value: true}, decision: {type: require_approval, timeout: {after_minutes: 30, default: deny}}}\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    if (!abilitiesOf(workspace, document).untrusted) return
    const uses = toolsOf(document)
    const can = uses.map((use) => capabilitiesOf(workspace, use))
    const source = uses.find((_, index) => can[index]!.untrusted !== undefined)
    if (source === undefined) return
    // With private data and a way out it is `security/lethal-trifecta`.
    const trifecta = can.some((each) => each.private !== undefined)
    for (const [index, use] of uses.entries()) {
      const sideEffect = effectiveClass(workspace, use)
      if (use === source || sideEffect === undefined || sideEffect === 'read_only' || isGated(project, use)) continue
      if (trifecta && can[index]!.egress !== undefined) continue
      report(
        `${use.pointer}/ref`,
        `${source.ref?.id ?? 'A tool'} brings what strangers write, and ${use.ref?.id ?? 'this tool'} acts on it without a gate.`,
        {
          related: [
            {
              path: document.path,
              range: document.placeOf(`${source.pointer}/ref`).range,
              message: 'content of strangers',
            },
          ],
        },
      )
    }
  },
}
