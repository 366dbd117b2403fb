import { parseDuration } from '../../../base/duration.ts'
import { COMPLETION, COMPLETION_TIMEOUT } from '../../../spec/steer/wait.ts'
import { labelOfTool, labelPointer } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'

const LONGEST_MS = 366 * 86_400_000

export const toolCompletionInvalid: LintRule = {
  severity: 'error',
  law: '`svc/completion` is `external`, and `svc/completion-timeout` a duration of at most 366d beside it.',
  fix: 'Write `svc/completion: external`, and a duration such as 6h.',
  reason: 'The answer of the tool would count as the end of work that has only begun.',
  kinds: ['Tool'],
  check(document, report) {
    const [completion, timeout] = [labelOfTool(document, COMPLETION), labelOfTool(document, COMPLETION_TIMEOUT)]
    if (completion !== undefined && completion !== 'external')
      report(labelPointer(COMPLETION), `"${completion}" is not external, the one way to end a call later.`)
    if (timeout === undefined) return
    const ms = parseDuration(timeout)
    if (ms === undefined || ms < 1 || ms > LONGEST_MS)
      report(labelPointer(COMPLETION_TIMEOUT), `"${timeout}" is no duration between 1ms and 366d.`)
    else if (completion === undefined)
      report(labelPointer(COMPLETION_TIMEOUT), `${COMPLETION_TIMEOUT} needs ${COMPLETION}: external.`)
  },
}
