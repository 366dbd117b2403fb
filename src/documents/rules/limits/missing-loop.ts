import { mappingIn } from '../../text/document.ts'
import { isExternalAgent } from '../../facts/agents/external.ts'
import { insertionEdits } from '../../edit/insertion.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsMissingLoop: LintRule = {
  severity: 'warning',
  law: 'An agent with tools sets `max_loop_iterations`.',
  fix: 'Add `limits.max_loop_iterations`.',
  reason: 'A model that keeps calling tools is stopped by nothing else.',
  kinds: ['Agent'],
  check(document, report) {
    if (
      mappingIn(document, 'spec', 'limits')['max_loop_iterations'] !== undefined ||
      document.at('spec.tools.*').length === 0 ||
      isExternalAgent(document)
    )
      return
    report('/spec/tools', 'Tools are bound, but `max_loop_iterations` is not set.', {
      why: 'A model that loops would stop only at the guard of the server.',
      fix: {
        description: 'Add `limits: {max_loop_iterations: 25}`.',
        edits: insertionEdits(document, '/spec/limits/max_loop_iterations', '25', 'tools'),
        unsafe: true,
      },
    })
  },
}
