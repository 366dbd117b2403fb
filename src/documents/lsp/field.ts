/** Fields of the schemas, for hover and completion. */
import { KINDS, type DocumentKind } from '../../spec/document.ts'
import { fields, type Field } from '../generated/fields.js'
import { placeOfPath } from '../workspace/schema-keys.ts'

export type { Field }

const tableOf = (kind: DocumentKind): Readonly<Record<string, Field>> =>
  fields[kind.toLowerCase() as Lowercase<DocumentKind>]

/** The path in the table for a path in a document: names that authors choose become `*`. */
export const generalPath = (kind: DocumentKind, path: readonly string[]): string | undefined =>
  placeOfPath(Object.keys(tableOf(kind)), path)

export function fieldAt(kind: DocumentKind, path: readonly string[]): Field | undefined {
  const known = generalPath(kind, path)
  return known === undefined ? undefined : tableOf(kind)[known]
}

/** Keys that a mapping may have, in the order of the schema. */
export function keysAt(
  kind: DocumentKind,
  path: readonly string[],
): readonly { readonly key: string; readonly field: Field }[] {
  const known = generalPath(kind, path)
  if (known === undefined) return []
  const prefix = known === '' ? '' : `${known}.`
  return Object.entries(tableOf(kind)).flatMap(([each, field]) => {
    const key = each.startsWith(prefix) && each !== '' ? each.slice(prefix.length) : ''
    return key === '' || key === '*' || key.includes('.') ? [] : [{ key, field }]
  })
}

/** True for a field with fields of its own, whose value begins on the next line. */
export const holdsMore = (kind: DocumentKind, path: readonly string[]): boolean => {
  const known = generalPath(kind, path)
  return known !== undefined && Object.keys(tableOf(kind)).some((each) => each.startsWith(`${known}.`))
}

export const isKind = (value: unknown): value is DocumentKind => KINDS.some((each) => each === value)
