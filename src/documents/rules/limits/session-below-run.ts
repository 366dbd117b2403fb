import { mappingIn } from '../../text/document.ts'
import { readWholeLimit } from '../../facts/whole-limits.ts'
import type { LintRule } from '../../facts/rule.ts'

const TOKENS = 'svc/max-tokens-per-session'

export const limitsSessionBelowRun: LintRule = {
  severity: 'warning',
  law: 'A session may use at least as many tokens as one of its runs.',
  fix: 'Raise `svc/max-tokens-per-session`, or lower `max_tokens_per_run`.',
  reason:
    'The tokens of a run count for its session, so the higher limit is never reached, and no conversation goes on.',
  kinds: ['Agent'],
  check(document, report) {
    const perRun = mappingIn(document, 'spec', 'limits')['max_tokens_per_run']
    if (typeof perRun !== 'number') return
    for (const annotation of document.texts('metadata.annotations.*')) {
      if (annotation.key !== TOKENS) continue
      const read = readWholeLimit(TOKENS, annotation.value)
      if ('problem' in read || read.value >= perRun) continue
      report(annotation, `A session may use ${read.value} tokens, but one run of it ${perRun} (max_tokens_per_run).`)
    }
  },
}
