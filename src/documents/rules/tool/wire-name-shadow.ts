import { isJsonObject } from '../../../base/json.ts'
import { textAt, toolsOf, wireNameOf, type ToolUse } from '../../facts/bindings.ts'
import { skeletonOf } from '../../text/scripts.ts'
import type { LintRule } from '../../facts/rule.ts'

export const wireNameShadow: LintRule = {
  name: 'tool/wire-name-shadow',
  severity: 'warning',
  law: 'Tools of different servers have names that a model can tell apart.',
  fix: 'Give one of them another name with `as`.',
  source: 'Security, S17: a tool of one server may pose as that of another',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  mcp_servers: [{name: a, url: "https://a.example/"}, {name: b, url: "https://b.example/"}]\n  tools: [{ref: crm.send_mail@^1, mcp: {server: a}}, {ref: web.sendmail@^1, mcp: {server: b}}]\n  limits: {max_loop_iterations: 5}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  mcp_servers: [{name: a, url: "https://a.example/"}, {name: b, url: "https://b.example/"}]\n  tools: [{ref: crm.send_mail@^1, mcp: {server: a}}, {ref: web.sendmail@^1, as: web_form, mcp: {server: b}}]\n  limits: {max_loop_iterations: 5}\n',
  },
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const first = new Map<string, { readonly use: ToolUse; readonly name: string }>()
    for (const use of toolsOf(document)) {
      const name = wireNameOf(workspace, use)
      if (name === undefined) continue
      const before = first.get(skeletonOf(name))
      if (before === undefined) first.set(skeletonOf(name), { use, name })
      else if (before.name !== name && serverOf(before.use) !== serverOf(use))
        report(
          `${use.pointer}/${textAt(use.value, 'as') === undefined ? 'ref' : 'as'}`,
          `The model will see "${name}" beside "${before.name}", which is of another server.`,
          {
            related: [
              {
                path: document.path,
                range: document.placeOf(`${before.use.pointer}/ref`).range,
                message: 'the other one',
              },
            ],
          },
        )
    }
  },
}

const serverOf = ({ value }: ToolUse): string | undefined =>
  isJsonObject(value['mcp']) ? textAt(value['mcp'], 'server') : undefined
