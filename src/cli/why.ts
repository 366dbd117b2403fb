/** What stopped a call, policy by policy, with the values that were seen. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import type { TaskContent } from '../spec/api.ts'
import type { Canvas } from '../terminal/screen.ts'
import { safeText } from '../terminal/text.ts'

export const explainTask = (canvas: Canvas, task: TaskContent): string[] =>
  explainPolicies(canvas, (task.policies ?? []) as readonly JsonValue[])

/** A line for each policy that was considered: fired ones are marked, the others say why they did not matter. */
export function explainPolicies({ theme }: Canvas, policies: readonly JsonValue[]): string[] {
  const known = policies.filter(isJsonObject)
  if (known.length === 0) return ['  no policy concerns this call; the side-effect class decides']
  return known.map((policy) => {
    const fired = textOf(policy, 'matched') !== 'false'
    const mark = fired ? theme.waiting('✔') : theme.dim('·')
    const version = textOf(policy, 'version')
    const parts = [
      `${textOf(policy, 'id')}${version && `@${version}`}`.padEnd(28),
      textOf(policy, 'decision').padEnd(17),
      textOf(policy, 'condition'),
      textOf(policy, 'matched'),
    ]
    const place = textOf(policy, 'source')
    return `  ${mark} ${safeText(parts.join('  ').trimEnd())}${place ? `   ${theme.dim(safeText(place))}` : ''}`
  })
}

const textOf = (policy: JsonObject, name: string): string => {
  const value = policy[name]
  return typeof value === 'string' ? value : ''
}
