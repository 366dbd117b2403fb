import { patternSteps } from '../../base/pattern/pattern-growth.ts'
import type { SchemaSize } from './schema-size.ts'

/** Characters of a text or key that cost as much work as one value. */
const CHARS_PER_UNIT = 32

/**
 * Whether the work of checking a value may exceed `most`: nodes of the schema times parts of the value, plus steps of matching
 * texts. Stops as soon as it does, so that measuring a large value costs no more than `most` either.
 */
export function measureValue(
  value: unknown,
  { work, growth }: SchemaSize,
  most: number,
): { readonly exceeds: boolean } {
  let units = 0
  let steps = 0
  const count = (text: string): void => {
    units += text.length / CHARS_PER_UNIT
    if (growth !== undefined) steps += patternSteps(growth, text.length)
  }
  const open: unknown[] = [value]
  while (open.length > 0) {
    const each = open.pop()
    units++
    if (typeof each === 'string') count(each)
    else if (Array.isArray(each)) {
      if (each.length * work > most) return { exceeds: true }
      for (const item of each) open.push(item)
    } else if (typeof each === 'object' && each !== null)
      for (const key in each) {
        count(key)
        open.push((each as Readonly<Record<string, unknown>>)[key])
      }
    if (units * work + steps > most) return { exceeds: true }
  }
  return { exceeds: false }
}
