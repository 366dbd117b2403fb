/** Required keys that a mapping lacks. */
import type { ErrorObject } from 'ajv'
import { pointerTo } from '../text/pointer.ts'

export interface MissingKeys {
  readonly keys: readonly string[]
  readonly inWords: string
}

/**
 * What each mapping lacks, by its pointer.
 * @param meant pointers of keys that another finding already accounts for
 */
export function missingKeys(errors: readonly ErrorObject[], meant: ReadonlySet<string>): Map<string, MissingKeys> {
  const missing = new Map<string, string[]>()
  const choices = new Map<string, MissingKeys>()
  for (const error of errors) {
    const { keyword, instancePath } = error
    const isMeant = (key: string): boolean => meant.has(pointerTo(instancePath, key))
    if (isChoice(error)) {
      const names = alternativesAt(instancePath, error)
      if (!names.some(isMeant))
        choices.set(instancePath, { keys: names, inWords: `exactly one of ${listKeys(names, 'or')}` })
    }
    if (keyword !== 'required' || isConditional(error) || isMeant(missingProperty(error))) continue
    missing.set(instancePath, [...(missing.get(instancePath) ?? []), missingProperty(error)])
  }
  return new Map([
    ...choices,
    ...[...missing].map(([at, keys]) => [at, { keys, inWords: listKeys(keys, 'and') }] as const),
  ])
}

/** None of several alternative keys is there. */
export const isChoice = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'oneOf' && (params['passingSchemas'] as number[] | null) === null

/** Keys that another value makes required; `describeWrongValue` reports them with that value. */
const isConditional = (error: ErrorObject): boolean => ['base_url', 'header'].includes(missingProperty(error))

export const missingProperty = (error: ErrorObject): string => String(error.params['missingProperty'])

export const listKeys = (names: readonly string[], word: 'and' | 'or'): string => {
  const quoted = names.map((name) => `\`${name}\``)
  return quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(', ')} ${word} ${quoted.at(-1)}`
}

/** The properties of which exactly one is required. */
export function alternativesAt(pointer: string, error: ErrorObject): readonly string[] {
  if (error.schemaPath.includes('route')) return ['command', 'http', 'mock']
  if (pointer.endsWith('/instructions')) return ['ref', 'text']
  return ['ref', 'inline']
}
