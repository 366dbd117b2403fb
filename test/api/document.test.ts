/** The OpenAPI document itself: what linters of OpenAPI ask for, and what generators of clients need. */
import { expect, test } from 'vitest'
import { SUBJECTS } from '../../src/spec/event.ts'
import { STEP_TYPES } from '../../src/spec/step.ts'
import { openApi, operations } from './document.ts'

type Schema = Readonly<Record<string, unknown>>
const schemas = Object.entries(openApi.components.schemas) as readonly [string, Schema][]
const schemaOf = (ref: unknown): Schema => openApi.components.schemas[String(ref).split('/').at(-1)!] as Schema

const SCHEMA_WORDS = new Set(
  '$ref type format const enum properties required items allOf oneOf anyOf discriminator additionalProperties patternProperties minimum maximum minLength maxLength minItems maxItems maxProperties pattern default description examples'.split(
    ' ',
  ),
)

/** Each schema below another, with its place; names of properties are no words of a schema. */
function* schemasBelow(schema: Schema, place: string): Generator<readonly [string, Schema]> {
  yield [place, schema]
  for (const [word, value] of Object.entries(schema)) {
    if (['properties', 'patternProperties'].includes(word))
      for (const [name, each] of Object.entries(value as object))
        yield* schemasBelow(each as Schema, `${place}/${name}`)
    else if (['allOf', 'oneOf', 'anyOf'].includes(word))
      for (const [at, each] of (value as Schema[]).entries()) yield* schemasBelow(each, `${place}/${word}/${at}`)
    else if (word === 'items' || (word === 'additionalProperties' && typeof value === 'object'))
      yield* schemasBelow(value as Schema, `${place}/${word}`)
  }
}
const all = schemas.flatMap(([name, schema]) => [...schemasBelow(schema, name)])

test('every operation says in a summary and a description what it promises', () => {
  const bare = [...operations].filter(([, { summary, description }]) => !summary || !description)
  expect(bare.map(([line]) => line)).toEqual([])
})

test('a schema holds words of JSON Schema and extensions, and a list says of what', () => {
  const unknown = all.flatMap(([place, schema]) =>
    Object.keys(schema).flatMap((word) =>
      SCHEMA_WORDS.has(word) || word.startsWith('x-') ? [] : [`${place}: ${word}`],
    ),
  )
  expect(unknown).toEqual([])
  expect(all.filter(([, { type, items }]) => type === 'array' && items === undefined)).toEqual([])
})

test('every schema is used', () => {
  const text = JSON.stringify(openApi)
  expect(
    schemas.map(([name]) => name).filter((name) => !text.includes(`"$ref":"#/components/schemas/${name}"`)),
  ).toEqual([])
})

test.each(schemas.filter(([, { discriminator }]) => discriminator))(
  '%s: each value of the discriminator leads to the one variant that allows it',
  (_, { discriminator, oneOf }) => {
    const { propertyName, mapping } = discriminator as { propertyName: string; mapping: Record<string, string> }
    const valuesOf = (ref: unknown): readonly unknown[] => {
      const own = (schemaOf(ref)['allOf'] as Schema[]).find(({ properties }) => properties)!
      const property = (own['properties'] as Record<string, Schema>)[propertyName]!
      expect(own['required']).toContain(propertyName)
      return (property['enum'] as unknown[]) ?? [property['const']]
    }
    const allowed = (oneOf as Schema[]).flatMap(({ $ref }) => valuesOf($ref).map((value) => [value, $ref]))
    expect(Object.entries(mapping)).toEqual(allowed)
  },
)

test('the steps and the events of the document are those that the engine writes', () => {
  const valuesOf = (name: string) =>
    Object.keys((openApi.components.schemas[name]!['discriminator'] as { mapping: object }).mapping)
  expect(valuesOf('TimelineItem')).toEqual([...STEP_TYPES])
  expect(valuesOf('StreamEvent').toSorted()).toEqual(Object.values(SUBJECTS).flat().toSorted())
})
