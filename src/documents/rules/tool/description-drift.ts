import { textMember, toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolDescriptionDrift: LintRule = {
  severity: 'info',
  law: 'A binding that overrides the description of a tool keeps its warning.',
  fix: 'Keep the warning of the Tool document.',
  source: 'Authoring format, "Tool binding": `description` overrides or supplements the tool description',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const own = textMember(use.value, 'description')
      const original = toolDocument(workspace, use)?.texts('spec.description')[0]
      const warning = original && WARNING.exec(original.value)?.[0]
      if (own === undefined || original === undefined || warning === undefined || WARNING.test(own)) continue
      report(`${use.pointer}/description`, `The Tool document warns ("${warning}"), this description does not.`, {
        related: [{ path: original.path, range: original.range, message: 'the warning' }],
      })
    }
  },
}

const WARNING =
  /\b(?:irreversibl[ey]|permanent(?:ly)?|(?:can ?not|can't|cannot) be (?:undone|reversed|recalled)|destructive|no way back|final and)\b/i
