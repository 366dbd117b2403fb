import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unsafeNumberIn } from '../../src/base/json/exact-number.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import { readDocuments } from '../../src/documents/workspace/read.ts'
import { hasShape, type DocumentSchema } from '../../src/documents/workspace/shape.ts'
import { KINDS, type DocumentKind } from '../../src/spec/document.ts'
import { allows, at, beside, changed, closed, fields, full, isMapping, type Field } from './format-table.ts'
import { cases } from '../cases.ts'

const isValid = (kind: DocumentKind, document: JsonValue): boolean =>
  hasShape(kind.toLowerCase() as DocumentSchema, document)

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
function mutations(kind: DocumentKind, document: JsonValue): Mutation[] {
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
function pairs(kind: DocumentKind, document: JsonValue): Mutation[] {
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

const hasField = (kind: DocumentKind, path: Field['path'], name: string): boolean =>
  [...fields, ...beside].some((field) => field.kind === kind && pathOf(field) === [...path, name].join('.'))

test('what the tables allow is valid', () => {
  fc.assert(
    fc.property(validDocument, ({ kind, document }) => {
      expect(isValid(kind, document)).toBe(true)
    }),
    { numRuns: cases(500) },
  )
})

test('a valid document with one change that the tables forbid is invalid', () => {
  fc.assert(
    fc.property(validDocument, fc.nat(), ({ kind, document }, pick) => {
      const all = mutations(kind, document)
      const { what, made } = all[pick % all.length]!
      expect([what, isValid(kind, made())]).toEqual([what, false])
    }),
    { numRuns: cases(1000) },
  )
})

/** Every place of a document, those inside free-form values too. */
function places(document: JsonValue, path: Field['path'] = []): Field['path'][] {
  if (typeof document !== 'object' || document === null) return [path]
  const below = Array.isArray(document)
    ? document.flatMap((each, index) => places(each, [...path, index]))
    : Object.entries(document).flatMap(([key, each]) => places(each, [...path, key]))
  return [path, ...below]
}

const names = [...new Set([...fields, ...beside].map(({ path }) => String(path.at(-1))))]
const anyName = fc.oneof(fc.constantFrom(...names), fc.constantFrom('banana', 'Kind', 'inputSchema', ''))
const anyValue = fc.oneof(
  fc.constantFrom(...[...fields, ...beside].flatMap(({ good, bad }) => [...good, ...bad])),
  fc.constantFrom('vendor_b-compatible', 'openai-compatible', 'header', 'bearer', 'https://llm.example/v1'),
  // Larger numbers are refused before anything looks at them.
  (fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>).filter((value) => unsafeNumberIn(value) === undefined),
)

type Change = { readonly at: number; readonly to: number; readonly name: string; readonly value: JsonValue } & {
  readonly act: 'drop' | 'retype' | 'add' | 'misplace' | 'append'
}

const change: fc.Arbitrary<Change> = fc.record({
  act: fc.constantFrom('drop', 'retype', 'add', 'misplace', 'append'),
  at: fc.nat(),
  to: fc.nat(),
  name: anyName,
  value: anyValue,
})

/** A document after one change at any place, whether the tables forbid it or not. */
function after(document: JsonValue, { act, at: index, to, name, value }: Change): JsonValue {
  const all = places(document).filter((path) => path.length > 0)
  if (all.length === 0) return document
  const place = all[index % all.length]!
  const here = at(document, place)!
  const mappings = [[], ...all].filter((path) => isMapping(at(document, path)))
  switch (act) {
    case 'drop':
      return typeof place.at(-1) === 'number' ? document : changed(document, place, undefined)
    case 'retype':
      return changed(document, place, value)
    case 'add':
      return changed(document, [...mappings[to % mappings.length]!, name], value)
    case 'misplace':
      return changed(document, [...mappings[to % mappings.length]!, String(place.at(-1))], here)
    case 'append':
      return Array.isArray(here) ? changed(document, place, [...here, value]) : document
  }
}

test('a document that is changed anywhere is valid where the tables allow it, and nowhere else', () => {
  const verdicts = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(validDocument, fc.array(change, { minLength: 1, maxLength: 3 }), ({ kind, document }, changes) => {
      const mutant = changes.reduce(after, document)
      const valid = allows(kind, mutant)
      verdicts[valid ? 'valid' : 'invalid']++
      expect(isValid(kind, mutant)).toBe(valid)
      // What is said of an invalid document is never nothing, whatever was left out as a follow-up.
      expect(told(mutant)).toBe(!valid)
    }),
    { numRuns: cases(3000) },
  )
  expect(Math.min(verdicts.valid, verdicts.invalid)).toBeGreaterThan(cases(600))
})

const told = (document: JsonValue): boolean =>
  readDocuments({ path: 'x.json', text: JSON.stringify(document) }, { named: true }).findings.some(
    ({ severity }) => severity === 'error',
  )
