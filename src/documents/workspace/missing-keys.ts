/** Required keys that a mapping lacks. */
import type { ErrorObject } from 'ajv'
import { pointerTo } from '../../base/json/pointer.ts'
import type { SchemaName } from './schema-keys.ts'
import { noteOf } from './schema-notes.ts'
import { joinWords } from '../../base/text/text-parts.ts'

export interface MissingKeys {
  readonly keys: readonly string[]
  readonly inWords: string
}

/**
 * What each mapping lacks, by its pointer.
 * @param meant pointers of keys that another finding already accounts for
 */
export function missingKeys(
  schema: SchemaName,
  errors: readonly ErrorObject[],
  meant: ReadonlySet<string>,
): Map<string, MissingKeys> {
  const missing = new Map<string, string[]>()
  const choices = new Map<string, MissingKeys>()
  for (const error of errors) {
    const { keyword, instancePath } = error
    const isMeant = (key: string): boolean => meant.has(pointerTo(instancePath, key))
    if (isChoice(error)) {
      const names = noteOf(schema, error).alternatives ?? []
      if (!names.some(isMeant))
        choices.set(instancePath, { keys: names, inWords: `exactly one of ${joinNames(names, 'or')}` })
    }
    if (keyword !== 'required' || isMeant(missingProperty(error))) continue
    // A key that another value makes required is reported with that value.
    if (noteOf(schema, error).message !== undefined) continue
    missing.set(instancePath, [...(missing.get(instancePath) ?? []), missingProperty(error)])
  }
  return new Map([
    ...choices,
    ...[...missing].map(([at, keys]) => [at, { keys, inWords: joinNames(keys, 'and') }] as const),
  ])
}

/** None of several alternative keys is there. */
export const isChoice = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'oneOf' && (params['passingSchemas'] as number[] | null) === null

export const missingProperty = (error: ErrorObject): string => String(error.params['missingProperty'])

export const joinNames = (names: readonly string[], word: 'and' | 'or'): string =>
  joinWords(
    names.map((name) => `\`${name}\``),
    word,
  )
