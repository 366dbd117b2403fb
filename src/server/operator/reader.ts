/** Validates bodies of the operator's own routes, property by property. Bodies of `/v1` are validated by schema. */
import type { InvalidPlace } from '../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { throwFindings } from '../http/refuse.ts'

interface TextRules {
  readonly min?: number
  readonly max?: number
}

/**
 * Reads the properties of an object and collects errors; `done` throws them together. An invalid property reads as
 * undefined.
 */
export function readProperties(body: unknown) {
  const problems: InvalidPlace[] = []
  if (!isJsonObject(body)) problems.push({ path: '', message: 'must be an object' })
  const source: JsonObject = isJsonObject(body) ? body : {}
  const wrong = (path: string, message: string): undefined => {
    if (!problems.some((each) => each.path === path)) problems.push({ path, message })
    return undefined
  }
  const typed = <T>(name: string, is: (value: unknown) => value is T, message: string): T | undefined => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined
    return value === undefined || is(value) ? value : wrong(`/${name}`, message)
  }
  return {
    wrong,
    required<T>(name: string, value: T | undefined): T | undefined {
      return value === undefined && !Object.hasOwn(source, name) ? wrong(`/${name}`, 'is required') : value
    },
    text(name: string, rules: TextRules = {}): string | undefined {
      const value = typed(name, isText, 'must be a string')
      if (value === undefined) return undefined
      const { min = 0, max = Infinity } = rules
      // Counts characters as JSON Schema does, but only if the cheaper count exceeds the maximum.
      if (value.length < min || (value.length > max && Array.from(value).length > max))
        return wrong(
          `/${name}`,
          min > 0 ? `must have ${min} to ${max} characters` : `must have at most ${max} characters`,
        )
      return value
    },
    boolean: (name: string) => typed(name, isBoolean, 'must be true or false'),
    bytes: (name: string) => typed(name, isByteCount, 'must be an integer from 1'),
    object: (name: string) => typed(name, isJsonObject, 'must be an object'),
    list<T>(name: string, parse: (value: unknown, at: string) => T): readonly T[] | undefined {
      return typed(name, Array.isArray, 'must be an array')?.map((each, index) => parse(each, `/${name}/${index}`))
    },
    /** @throws Failure `validation_failed` */
    done: () => throwFindings(problems, 'The body is not valid'),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isByteCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1
