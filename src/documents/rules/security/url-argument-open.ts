import { isJsonObject } from '../../../base/json/json.ts'
import { authorityOver, stopsOrdinaryCalls } from '../../facts/policies/authority.ts'
import { toolsOf } from '../../facts/agents/bindings.ts'
import { agentCapabilitiesOf, capabilitiesOf } from '../../facts/agents/capabilities.ts'
import { leavesIn } from '../../facts/policies/conditions.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securityUrlArgumentOpen: LintRule = {
  severity: 'warning',
  law: 'A URL argument of a tool is restricted by its schema or by a policy.',
  fix: 'Gate the binding with `host(args.url)` and `not_in`.',
  reason: 'A model that was misled can send data to any host.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    if (!agentCapabilitiesOf(workspace, document).egress) return
    for (const use of toolsOf(document)) {
      if (capabilitiesOf(workspace, use).egress === undefined) continue
      const schema = inputOf(workspace, use)?.value
      const properties = isJsonObject(schema) ? schema['properties'] : undefined
      const argument = Object.entries(isJsonObject(properties) ? properties : {}).find(
        ([name, property]) =>
          isJsonObject(property) &&
          !['enum', 'const', 'pattern'].some((key) => Object.hasOwn(property, key)) &&
          (property['format'] === 'uri' ||
            (property['type'] === 'string' && /(?:^|_)(?:url|uri|endpoint)$/i.test(name))),
      )
      if (argument === undefined) continue
      const { policies, unseen } = authorityOver(project, use)
      const read = policies.some(
        (policy) =>
          stopsOrdinaryCalls(policy) &&
          (policy.at('spec.conditions').length === 0 ||
            leavesIn(policy).some(({ leaf }) => leaf.path.text.includes(`args.${argument[0]}`))),
      )
      if (!unseen && !read)
        report(
          `${use.pointer}/ref`,
          `${use.ref?.id ?? 'This tool'} sends to any address that the model writes as "${argument[0]}".`,
        )
    }
  },
}
