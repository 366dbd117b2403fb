import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const authorityDuplicate: LintRule = {
  severity: 'warning',
  law: 'A boundary is declared only once.',
  fix: 'Remove the second one.',
  source: 'Authoring format, "metadata.governance": `authority_boundaries`',
  kinds: ['Agent'],
  check(document, report) {
    const seen = new Set<string>()
    for (const each of document.texts('metadata.governance.authority_boundaries.*')) {
      if (seen.has(each.value))
        report(each, `The boundary "${each.value}" stands here twice.`, {
          fix: { description: 'Remove it.', edits: removalEdits(document, each.pointer) },
        })
      seen.add(each.value)
    }
  },
}
