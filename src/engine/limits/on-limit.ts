/** Who hears of a limit that is reached: nobody, and the run ends, or an operator. Source: policies, section 2, root `svc`. */
import { digestOfJson } from '../../base/digest.ts'
import type { RunId } from '../../base/ids.ts'
import { readCondition } from '../../policy/condition/condition.ts'
import { evaluateConditions } from '../../policy/condition/evaluate.ts'
import type { LimitName } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { factsOf } from './facts.ts'

/** True where an operator is asked: the agent says so, or a policy of type escalate or require_approval that tests `svc.limit`. */
export function asksAboutLimit(draft: SessionTransaction, id: RunId, limit: LimitName): boolean {
  const { limits, policies } = draft.snapshot(id)
  if (limits.on_limit === 'escalate') return true
  const routing = policies.entries.filter(
    ({ effect, when }) =>
      (effect === 'escalate' || effect === 'require_approval') &&
      when !== undefined &&
      JSON.stringify(when).includes('"svc.limit"'),
  )
  return routing.some(({ when }) => {
    const { condition } = readCondition(when!)
    return condition !== undefined && evaluateConditions(condition, factsOfLimit(draft, id, limit)).truth === 'true'
  })
}

/** A limit is reached by a run and by no call of it: what asks about a call cannot be told. */
const factsOfLimit = (draft: SessionTransaction, id: RunId, limit: LimitName) => ({
  ...factsOf(
    draft,
    id,
    { ref: '', arguments: {}, argumentsDigest: digestOfJson({}) },
    { id: '', version: '', wire_name: '', kind: 'tool', labels: {} },
  ),
  svc: { dispatch: { trigger: 'none' as const }, limit },
})
