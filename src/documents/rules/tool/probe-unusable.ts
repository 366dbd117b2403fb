import { isJsonObject } from '../../../base/json.ts'
import { effectiveClass, textAt, toolDocument, toolsOf } from '../../facts/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

const WRITES =
  'kind: Tool\nmetadata: {name: transfer, namespace: bank, version: "1.0.0", labels: {svc/probe: bank.find_transfer}}\nspec: {side_effect_class: non_idempotent_write}\n---\nkind: Tool\nmetadata: {name: find_transfer, namespace: bank, version: "1.0.0"}\nspec: {side_effect_class: read_only}\n'

export const probeUnusable: LintRule = {
  name: 'tool/probe-unusable',
  severity: 'warning',
  law: 'The tool that `svc/probe` names is bound beside the one it is for, and reads only.',
  fix: 'Bind it in the same agent with side_effect_class read_only, or take the label away.',
  source: 'Reliability, "Records and protocol": probe binding',
  bad: {
    'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: bank.transfer@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml': WRITES,
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: bank.transfer@^1}, {ref: bank.find_transfer@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml': WRITES,
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const uses = toolsOf(document)
    for (const use of uses) {
      const metadata = toolDocument(workspace, use)?.value['metadata']
      const labels = isJsonObject(metadata) ? metadata['labels'] : undefined
      const wanted = isJsonObject(labels) ? textAt(labels, 'svc/probe') : undefined
      if (wanted === undefined) continue
      const probe = uses.find(({ ref }) => ref?.id === wanted)
      const place = `${use.pointer}/ref`
      if (!probe) report(place, `${use.ref!.id} is looked after with ${wanted}, which this agent does not bind.`, WHY)
      else if (effectiveClass(workspace, probe) !== 'read_only')
        report(place, `${use.ref!.id} is looked after with ${wanted}, which is not read_only.`, WHY)
    }
  },
}

const WHY = { why: 'When nobody knows whether a call happened, whoever must decide cannot look.' }
