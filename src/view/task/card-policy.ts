/** What a card says of the policies that stopped a call. */
import { safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { DecidedPolicy } from '../../spec/step.ts'
import type { ShownTask } from '../../spec/task.ts'
import { splitComparisons } from './call-arguments.ts'

/** The policies that stopped the call; if none did, all that matched. */
export function decisivePolicies(policies: readonly DecidedPolicy[]): readonly DecidedPolicy[] {
  const matching = policies.filter(({ matched }) => matched !== false)
  const stopping = matching.filter(({ decision }) => decision !== 'allow')
  return stopping.length > 0 ? stopping : matching
}

/** The reason, and the condition unless it stands beside its argument. */
export function describeWhy(policy: DecidedPolicy, args: JsonValue | undefined): string {
  const { condition = '', reason } = policy
  const shown = isBesideArgument(policy, args) ? '' : condition
  const because = [shown, reason ?? ''].filter((each) => each !== '').join(': ')
  const unknown = policy.matched === null ? ' (could not be told)' : ''
  return `${because || nameOfPolicy(policy)}${unknown}`
}

export function placeOf(policy: DecidedPolicy, args: JsonValue | undefined): { readonly place?: string } {
  const { condition, reason, source } = policy
  const isBeside = isBesideArgument(policy, args)
  const place = isBeside ? undefined : source
  const isNamed = (isBeside || !condition) && !reason
  const parts = [isNamed ? undefined : nameOfPolicy(policy), place].filter((each) => each !== undefined)
  return parts.length === 0 ? {} : { place: safeText(parts.join('  ')) }
}

const nameOfPolicy = ({ id, version }: DecidedPolicy): string => `${id}${version && `@${version}`}`

/** True where the whole condition is one comparison of an argument that is shown with it. */
function isBesideArgument({ condition = '', matched }: DecidedPolicy, args: JsonValue | undefined): boolean {
  const [only, ...more] = splitComparisons(condition)
  return (
    matched === true &&
    only !== undefined &&
    more.length === 0 &&
    condition.startsWith(`${only.text} (`) &&
    isJsonObject(args) &&
    Object.hasOwn(args, only.argument)
  )
}

/** The part of the task's reason that comes from no policy. */
export function untoldReason({ reason, effect }: ShownTask, policies: readonly DecidedPolicy[]): string | undefined {
  const told = new Set([...policies.map((policy) => policy.reason), ...(effect?.previous ? ['effect_repeated'] : [])])
  const parts = reason?.split('; ').filter((part) => !told.has(part)) ?? []
  return told.has(reason ?? null) || parts.length === 0 ? undefined : parts.join('; ')
}

/** True where the question only repeats a policy and its condition, which the row `why` shows, or the reason. */
export const isToldBy = ({ id, version, condition = '' }: DecidedPolicy, question: string): boolean =>
  ['requires an approval', 'escalates the call to an operator'].some((verb) =>
    question.startsWith(`${id}@${version} ${verb}${condition === '' ? '' : `: ${condition}`}.`),
  )

/** The reason of an approval that no policy required, because the call cannot be undone. */
export const DEFAULT_QUESTION = /^An irreversible_action requires an approval, and no policy grants it\.$/
