import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json.ts'
import { hasShape, type SchemaName } from '../../src/documents/shape.ts'
import { KINDS, type Kind } from '../../src/spec/document.ts'
import { at, changed, closed, fields, full, type Field } from './format-table.ts'

const isValid = (kind: Kind, document: JsonValue): boolean => hasShape(kind.toLowerCase() as SchemaName, document)

const pathOf = (field: Pick<Field, 'path'>): string => field.path.join('.')

/** A valid document: some optional fields left out, others with another value that the tables allow. */
const validDocument = fc.constantFrom(...KINDS).chain((kind) => {
  const own = fields.filter((field) => field.kind === kind)
  return fc
    .array(fc.record({ field: fc.constantFrom(...own), drop: fc.boolean(), pick: fc.nat() }), { maxLength: 8 })
    .map((steps) => ({
      kind,
      document: steps.reduce((document, { field, drop, pick }) => {
        if (at(document, field.path) === undefined) return document
        if (drop) return field.required ? document : changed(document, field.path, undefined)
        return field.good.length === 0 ? document : changed(document, field.path, field.good[pick % field.good.length])
      }, full[kind]),
    }))
})

type Mutation = { readonly what: string; readonly made: () => JsonValue }

/** Every way in which the tables say that a document can be made invalid, where it has what is needed for it. */
function mutations(kind: Kind, document: JsonValue): Mutation[] {
  const there = fields.filter((field) => field.kind === kind && at(document, field.path) !== undefined)
  const mappings = closed.filter((each) => each.kind === kind && isMapping(at(document, each.path)))
  return [
    ...there
      .filter(({ required }) => required)
      .map((field) => ({ what: `drop ${pathOf(field)}`, made: () => changed(document, field.path, undefined) })),
    ...there.flatMap((field) =>
      field.bad.map((value) => ({
        what: `set ${pathOf(field)} to ${JSON.stringify(value)}`,
        made: () => changed(document, field.path, value),
      })),
    ),
    ...mappings.map(({ path }) => ({
      what: `add banana to ${path.join('.')}`,
      made: () => changed(document, [...path, 'banana'], 1),
    })),
    ...there.flatMap((field) =>
      mappings
        .filter(({ path }) => !hasField(kind, path, String(field.path.at(-1))))
        .map(({ path }) => ({
          what: `move ${pathOf(field)} to ${path.join('.')}`,
          made: () => changed(document, [...path, String(field.path.at(-1))], at(document, field.path)),
        })),
    ),
    ...pairs(kind, document),
  ]
}

/** Fields that exclude each other. */
function pairs(kind: Kind, document: JsonValue): Mutation[] {
  if (kind !== 'Agent') return []
  const both = (path: readonly string[], value: JsonValue): Mutation[] =>
    at(document, path.slice(0, -1)) === undefined
      ? []
      : [{ what: `both: ${path.join('.')}`, made: () => changed(document, path, value) }]
  return [
    ...both(['spec', 'instructions', 'text'], 'Help.'),
    ...(at(document, ['spec', 'model', 'parameters', 'temperature']) === undefined
      ? []
      : both(['spec', 'model', 'parameters', 'top_p'], 0.5)),
    ...both(['spec', 'model', 'base_url'], 'https://llm.example/v1'),
  ]
}

/** Fields that the tables describe together with others, beside those that stand in them alone. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  'Agent spec.instructions': ['text'],
  'Agent spec.model': ['provider', 'base_url'],
  'Agent spec.model.parameters': ['top_p'],
  'Agent spec.mcp_servers.0.auth': ['header'],
}

const hasField = (kind: Kind, path: Field['path'], name: string): boolean =>
  fields.some((field) => field.kind === kind && pathOf(field) === [...path, name].join('.')) ||
  (BESIDE[`${kind} ${path.join('.')}`] ?? []).includes(name)

const isMapping = (value: JsonValue | undefined): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

test('what the tables allow is valid', () => {
  fc.assert(
    fc.property(validDocument, ({ kind, document }) => {
      expect(isValid(kind, document)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('a valid document with one change that the tables forbid is invalid', () => {
  fc.assert(
    fc.property(validDocument, fc.nat(), ({ kind, document }, pick) => {
      const all = mutations(kind, document)
      const { what, made } = all[pick % all.length]!
      expect([what, isValid(kind, made())]).toEqual([what, false])
    }),
    { numRuns: 1000 },
  )
})
