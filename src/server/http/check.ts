/** What the checks that `scripts/openapi.js` generates have in common. Source: docs/design/http.md#bodies-and-errors */
import type { ErrorObject } from 'ajv'
import type { InvalidPlace } from '../../base/failure.ts'
import { firstPerPlace } from './findings.ts'
import { throwFindings } from './refuse.ts'

/** Of one schema. Stops at the first error or finds every one, as its module says. */
export interface Check {
  (value: unknown): boolean
  errors?: readonly ErrorObject[] | null
}

/** What is wrong with a value, as its check said that stops at the first error. */
export type FirstErrors = Check['errors']

/**
 * Refuses a value with all that is wrong with it, or with the first of it where the list of errors could be longer than the value.
 * @param what begins the message, such as `The body is not valid`
 * @throws Failure `validation_failed`
 */
export function refuseValue(value: unknown, first: FirstErrors, every: Check, what: string): never {
  throwFindings(whyNot(value, first, every), what)
  throw new Error(`A value was refused without a reason. ${what}.`)
}

/** Number of values up to which all errors of a value are reported. */
const MAX_VALUES = 1000

function whyNot(value: unknown, first: FirstErrors, every: Check): readonly InvalidPlace[] {
  if (countUpTo(MAX_VALUES, value) >= MAX_VALUES) return firstPerPlace(first)
  every(value)
  return firstPerPlace(every.errors)
}

/** Number of nested values, counted up to `most`. */
function countUpTo(most: number, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  for (const each of Object.values(value)) {
    count += 1 + countUpTo(most - count - 1, each)
    if (count >= most) return most
  }
  return count
}
