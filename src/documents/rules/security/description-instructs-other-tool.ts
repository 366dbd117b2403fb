import {
  descriptionOf,
  subAgentsOf,
  textMember,
  toolDocument,
  toolsOf,
  wireNameOf,
  type CallBinding,
} from '../../facts/agents/bindings.ts'
import type { FindingPlace } from '../../text/diagnostic.ts'
import type { Document } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securityDescriptionInstructsOtherTool: LintRule = {
  severity: 'warning',
  law: 'The description of a tool does not tell the model when to call another tool.',
  fix: 'Move the sentence to the instructions of the agent.',
  reason: 'The description of one server can misuse the tools of another.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const reportOrder = (binding: CallBinding, text: string, at: FindingPlace | string): void => {
      if (!ORDER.test(text)) return
      for (const other of [...toolsOf(document), ...subAgentsOf(document)]) {
        const wire = wireNameOf(workspace, other)
        if (wire === undefined || other === binding || wire.length < 4) continue
        const name = wire.replaceAll(/[-_]/g, '[-_ ]')
        const order = new RegExp(`${ORDER.source}[^.]{0,40}\\b${name}\\b`, 'i')
        if (order.test(text)) report(at, `This description tells the model how to use another tool, "${wire}".`)
      }
    }
    for (const use of toolsOf(document)) {
      const own = textMember(use.value, 'description')
      if (own !== undefined) {
        reportOrder(use, own, `${use.pointer}/description`)
        continue
      }
      const tool = toolDocument(workspace, use)
      const order = tool?.memoize(ordersOf)
      if (tool && order !== undefined) reportOrder(use, order, tool.placeOf('/spec/description'))
    }
    for (const edge of subAgentsOf(document)) {
      const own = textMember(edge.value, 'description')
      if (own !== undefined) reportOrder(edge, own, `${edge.pointer}/description`)
    }
  },
}

/** The description of a tool that gives orders; computed once for all agents that bind it. */
function ordersOf(tool: Document): string | undefined {
  const description = descriptionOf(tool)
  return description !== undefined && ORDER.test(description) ? description : undefined
}

const ORDER = /\b(?:before|after|instead of|always call|must call|call|do not use|don't use|never use|prefer)\b/i
