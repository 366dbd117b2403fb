import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { patternGrowth, patternSteps } from '../../../base/pattern/pattern-growth.ts'
import { pointerTo } from '../../../base/json/pointer.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaUnsafePattern: LintRule = {
  severity: 'warning',
  law: 'A pattern matches in time proportional to the length of the text.',
  fix: 'Rewrite the pattern so that it matches each text in only one way, or limit the text with `maxLength`.',
  reason: 'Models choose the texts that the pattern is matched against, and a slow match blocks a run.',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(['pattern', 'patternProperties'], (schema, report) => {
    for (const { pointer, value: pattern, holder } of schema.uses('pattern')) {
      const why = typeof pattern === 'string' ? unsafety(pattern, holder['maxLength']) : undefined
      if (why !== undefined) report(pointer, why)
    }
    for (const { pointer, value: named, holder } of schema.uses('patternProperties')) {
      const { propertyNames } = holder
      const longest = isJsonObject(propertyNames) ? (propertyNames as JsonObject)['maxLength'] : undefined
      for (const pattern of isJsonObject(named) ? Object.keys(named) : []) {
        const why = unsafety(pattern, longest)
        if (why !== undefined) report(pointerTo(pointer, pattern), why, {}, true)
      }
    }
  }),
}

/** Steps of a match that take about 10 ms, which nobody notices. */
const MAX_STEPS = 1_000_000

/** Why a pattern is unsafe for texts of up to `maxLength` characters; undefined when it is safe or its growth is unknown. */
function unsafety(pattern: string, maxLength: unknown): string | undefined {
  const growth = patternGrowth(pattern)
  const { degree } = growth
  if (degree === undefined || degree === 1) return undefined
  if (patternSteps(growth, typeof maxLength === 'number' ? maxLength : Infinity) <= 2 * MAX_STEPS) return undefined
  if (degree === Infinity)
    return 'This pattern can read a text in many ways, and tries them all: the time doubles with every few letters.'
  const longest = Math.round(MAX_STEPS ** (1 / degree))
  return `The time that this pattern takes grows with the length of the text to the power of ${degree}: a \`maxLength\` of at most ${longest} would bound it.`
}
