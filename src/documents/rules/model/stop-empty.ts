import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const modelStopEmpty: LintRule = {
  severity: 'error',
  law: 'Stop sequences are not empty and not repeated.',
  fix: 'Remove the empty or repeated stop sequence.',
  source: 'Authoring format, "spec.model": `stop_sequences`',
  kinds: ['Agent'],
  check(document, report) {
    const seen = new Set<unknown>()
    for (const found of document.at('spec.model.parameters.stop_sequences.*')) {
      const again = seen.has(found.value)
      seen.add(found.value)
      if (found.value !== '' && !again) continue
      report(
        found,
        found.value === ''
          ? 'An empty stop sequence stops every answer, or is refused.'
          : 'This stop sequence stands here twice.',
        {
          fix: { description: 'Remove it.', edits: removalEdits(document, found.pointer) },
        },
      )
    }
  },
}
