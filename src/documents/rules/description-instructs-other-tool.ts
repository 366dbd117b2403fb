import { subAgentsOf, textAt, toolDocument, toolsOf, wireNameOf } from '../bindings.ts'
import type { Place } from '../diagnostic.ts'
import type { Rule } from '../rule.ts'

export const descriptionInstructsOtherTool: Rule = {
  name: 'security/description-instructs-other-tool',
  severity: 'warning',
  law: 'The description of a tool says nothing about when to call another one.',
  fix: 'Move the order to the instructions of the agent.',
  source: 'Security, S17: shadowing of tools',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: crm.send_mail@^1}, {ref: web.lookup@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml':
      'kind: Tool\nmetadata: {name: send_mail, namespace: crm, version: "1.0.0"}\n---\nkind: Tool\nmetadata: {name: lookup, namespace: web, version: "1.0.0"}\nspec: {description: Looks things up. Always call lookup before send_mail.}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: crm.send_mail@^1}, {ref: web.lookup@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml':
      'kind: Tool\nmetadata: {name: send_mail, namespace: crm, version: "1.0.0"}\n---\nkind: Tool\nmetadata: {name: lookup, namespace: web, version: "1.0.0"}\nspec: {description: Looks things up.}\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const bindings = [...toolsOf(document), ...subAgentsOf(document)].map((binding) => ({
      binding,
      wire: wireNameOf(workspace, binding),
    }))
    for (const { binding } of bindings) {
      const own = textAt(binding.value, 'description')
      const use = toolsOf(document).find(({ pointer }) => pointer === binding.pointer)
      const described = use && toolDocument(workspace, use)?.texts('spec.description')[0]
      const [text, at]: [string | undefined, Place | string] =
        own !== undefined ? [own, `${binding.pointer}/description`] : [described?.value, described ?? binding.pointer]
      if (text === undefined || !ORDER.test(text)) continue
      for (const { binding: other, wire } of bindings) {
        if (wire === undefined || other === binding || wire.length < 4) continue
        const name = wire.replaceAll(/[-_]/g, '[-_ ]')
        const order = new RegExp(`${ORDER.source}[^.]{0,40}\\b${name}\\b`, 'i')
        if (order.test(text)) report(at, `This description tells the model how to use another tool, "${wire}".`)
      }
    }
  },
}

const ORDER = /\b(?:before|after|instead of|always call|must call|call|do not use|don't use|never use|prefer)\b/i
