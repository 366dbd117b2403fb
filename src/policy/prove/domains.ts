/**
 * The values that a path of a call can have, never too few: what a schema does not rule out for certain counts as possible, so
 * a proof over the domain holds for all calls. Source: docs/design/prover.md#domains
 */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { fieldOf } from '../condition/field-of.ts'
import type { ConditionPath } from '../condition/path.ts'
import type { PathSegment } from '../condition/segment.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { isRefused } from './misfit.ts'
import {
  conjunctsOf,
  enumeratedValues,
  forbidsMember,
  isOnlyOf,
  membersOf,
  requiresMember,
  typesOf,
  type PlacedSchema,
} from './schema-parts.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface ValueDomain {
  /** A value satisfies each of these schemas; only plain keywords are considered. */
  readonly schemas: readonly PlacedSchema[]
  /** A call may leave the value out. */
  readonly absent: boolean
  /** The path may lead through a value without members. */
  readonly unreadable: boolean
}

/**
 * The domain of a path, its function left aside.
 * @param schemas arguments satisfy each
 */
export function domainAt({ root, segments, history }: ConditionPath, schemas: readonly JsonSchema[]): ValueDomain {
  if (root === 'args') return domainBelow(schemas, segments)
  if (history) {
    // A sum may be of negative numbers. A measure that cannot be computed is unknown, not absent.
    const schema: JsonSchema =
      typeof history.measure === 'string' ? { type: 'integer', minimum: 0 } : { type: 'number' }
    return { ...domainBelow([schema], []), unreadable: true }
  }
  // A set of names, of which nothing is known before a run.
  if (root === 'source') return { schemas: [], absent: true, unreadable: true }
  const { schema, isOptional = false } = fieldOf(root, segments)
  const domain = domainBelow([schema], segments.slice(1))
  return isOptional ? { ...domain, absent: true } : domain
}

/** The domain of a path below a value that satisfies each of `schemas`. */
export function domainBelow(schemas: readonly JsonSchema[], segments: readonly PathSegment[]): ValueDomain {
  let at: readonly PlacedSchema[] = schemas.flatMap((schema) => conjunctsOf({ schema, root: schema }))
  let [absent, unreadable] = [false, false]
  for (const [depth, segment] of segments.entries()) {
    if ('key' in segment) {
      const { key } = segment
      // Arguments are an object, whether or not their schema says so.
      if (depth > 0 && !at.some(({ schema }) => isOnlyOf(schema, 'object'))) unreadable = true
      if (at.some(({ schema }) => forbidsMember(schema, key)))
        return { schemas: [{ schema: false, root: false }], absent: true, unreadable }
      if (!at.some(({ schema }) => requiresMember(schema, key))) absent = true
    } else {
      if (!at.some(({ schema }) => isOnlyOf(schema, 'array'))) unreadable = true
      if ('index' in segment) absent = true
    }
    at = membersOf(at, segment)
  }
  return { schemas: at, absent, unreadable }
}

/** True unless a schema of the domain certainly refuses the value. */
export const mayBe = ({ schemas }: Pick<ValueDomain, 'schemas'>, value: JsonValue): boolean =>
  schemas.every(({ schema }) => !isRefused(schema, value))

/** True unless a schema of the domain certainly refuses every value of these types. */
export const mayBeOf = ({ schemas }: ValueDomain, ...types: readonly string[]): boolean =>
  schemas.every(({ schema }) => schema !== false && (typesOf(schema)?.some((type) => types.includes(type)) ?? true))

/** All values of the domain, where a schema lists them. */
export function finiteValues(domain: ValueDomain): readonly JsonValue[] | undefined {
  for (const { schema } of domain.schemas) {
    const values = schema === false ? [] : enumeratedValues(schema)
    if (values) return values.filter((value) => mayBe(domain, value))
  }
  return undefined
}

/** Values that the schemas of a domain mention, such as members of enumerations and bounds of numbers. */
export function namedIn({ schemas }: Pick<ValueDomain, 'schemas'>): readonly JsonValue[] {
  return schemas
    .map(({ schema }) => schema)
    .filter(isJsonObject)
    .flatMap((schema) => [
      ...(Array.isArray(schema['enum']) ? schema['enum'] : []),
      ...['const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'default']
        .map((key) => ownMember(schema, key))
        .filter((value) => value !== undefined),
      ...(Array.isArray(schema['examples']) ? schema['examples'] : []),
    ])
}

/** The numbers that schemas state for a keyword, such as `maxLength`. */
export const numbersFor = ({ schemas }: Pick<ValueDomain, 'schemas'>, keyword: string): readonly number[] =>
  schemas.flatMap(({ schema }) => {
    const value = isJsonObject(schema) ? schema[keyword] : undefined
    return typeof value === 'number' ? [value] : []
  })
