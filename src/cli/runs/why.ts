/** Explains what stopped a call: each policy with the compared values. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { TaskRequest } from '../../spec/task.ts'
import { decisionMark } from '../../terminal/decision-mark.ts'
import type { Canvas } from '../../terminal/screen.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { widthOf } from '../../terminal/width.ts'
import { padText } from '../../terminal/text.ts'

export const explainTask = (canvas: Canvas, { policies = [] }: TaskRequest): string[] =>
  explainPolicies(
    canvas,
    policies.map((policy) => ({ ...policy })),
  )

/** A line for each evaluated policy: fired ones are marked, others have the reason why they had no effect. */
export function explainPolicies({ theme, width }: Canvas, policies: readonly JsonValue[]): string[] {
  const known = policies.filter(isJsonObject)
  if (known.length === 0) return ['  no policy concerns this call; the side-effect class decides']
  const ruleOf = (policy: JsonObject): string => {
    const version = textOf(policy, 'version')
    return safeText(`${textOf(policy, 'id')}${version && `@${version}`}`)
  }
  const longest = Math.max(28, ...known.map(ruleOf).map(widthOf))
  return known.flatMap((policy) => {
    const { matched = null } = policy
    const rule = ruleOf(policy)
    const decision = safeText(textOf(policy, 'decision'))
    const fired = matched !== false
    const mark = fired ? decisionMark(theme, textOf(policy, 'decision')) : theme.dim('·')
    const head = [padText(rule, longest), padText(decision, 17)].join('  ')
    const because = safeText(
      `${textOf(policy, 'condition')}  ${matched === null ? 'unknown' : JSON.stringify(matched)}`.trim(),
    )
    const place = safeText(textOf(policy, 'source'))
    const whole = `${head}  ${because}${place && `   ${place}`}`
    if (widthOf(whole) + 4 <= width) return [`  ${mark} ${head}  ${because}${place && `   ${theme.dim(place)}`}`]
    // On a narrow terminal, condition and place go to the next line.
    const short = `${rule}  ${decision}`
    const broken = widthOf(short) + 4 <= width ? [`  ${mark} ${short}`] : [`  ${mark} ${rule}`, `      ${decision}`]
    const first = widthOf(head) + 4 <= width ? [`  ${mark} ${head.trimEnd()}`] : broken
    return [...first, `      ${because}`, ...(place ? [`      ${theme.dim(place)}`] : [])]
  })
}

const textOf = (policy: JsonObject, name: string): string => {
  const value = policy[name]
  return typeof value === 'string' ? value : ''
}
