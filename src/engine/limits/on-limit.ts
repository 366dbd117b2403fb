/** Whether a limit that is reached ends the run or is put before an operator. Source: docs/design/policies.md#facts */
import { digestOfJson } from '../../base/digest.ts'
import { comparesFact, readCondition } from '../../policy/condition/condition.ts'
import { evaluateCondition } from '../../policy/condition/evaluate.ts'
import type { LimitName } from '../../spec/run/run.ts'
import type { RunHandle } from '../transaction/transaction.ts'
import { callFactsOf } from './facts.ts'

/** True where an operator is asked: the agent says so, or a policy of type escalate or require_approval that tests `svc.limit`. */
export function asksAboutLimit(run: RunHandle, limit: LimitName): boolean {
  const { limits, policies } = run.snapshot
  if (limits.on_limit === 'escalate') return true
  const routing = policies.entries.filter(
    ({ effect, when }) =>
      (effect === 'escalate' || effect === 'require_approval') &&
      when !== undefined &&
      comparesFact(when, 'svc', 'limit'),
  )
  return routing.some(({ when }) => {
    const { condition } = readCondition(when!)
    return condition !== undefined && evaluateCondition(condition, factsOfLimit(run, limit)).truth === 'true'
  })
}

/** Facts without a call: a limit is reached by the run itself, so conditions on calls cannot be evaluated. */
const factsOfLimit = (run: RunHandle, limit: LimitName) => ({
  ...callFactsOf(
    run,
    { ref: '', arguments: {}, argumentsDigest: digestOfJson({}) },
    { id: '', version: '', wire_name: '', kind: 'tool', labels: {} },
  ),
  svc: { dispatch: { trigger: 'none' as const }, limit },
})
