import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { leavesOf, type Condition, type ConditionLeaf } from '../../../policy/condition/condition.ts'
import { operatorRow } from '../../../policy/condition/operators.ts'
import { stepInto } from '../../../policy/condition/path.ts'

/**
 * An example call that the schema allows, for messages: ` (for example {"amount":1})`; empty where none is easily made.
 * @param condition all of its comparisons must be true for the example
 */
export function describeExampleCall(schema: JsonObject | boolean | undefined, condition?: Condition): string {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined
  const required = isJsonObject(schema) ? schema['required'] : undefined
  if (!isJsonObject(properties) || !Array.isArray(required)) return ''
  const pairs = required
    .filter((name) => typeof name === 'string')
    .map((name) => [name, sample(properties[name])] as const)
  if (pairs.length === 0 || pairs.some(([, value]) => value === undefined)) return ''
  const args = Object.fromEntries(pairs) as JsonObject
  const holds = condition === undefined || leavesOf(condition).every((leaf) => isTrueOf(leaf, args))
  return holds ? ` (for example ${JSON.stringify(args)})` : ''
}

const isTrueOf = ({ path, op, value }: ConditionLeaf, args: JsonObject): boolean =>
  path.root !== 'args' ||
  (path.fn === undefined &&
    operatorRow(op).compileTest(value, 'unknown')(path.segments.reduce(stepInto, args as JsonValue | undefined)) ===
      'true')

function sample(schema: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(schema)) return undefined
  const { enum: values, const: only, type, minimum, exclusiveMinimum, pattern, format } = schema
  if (only !== undefined) return only
  if (Array.isArray(values)) return values[0]
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') {
    if (typeof minimum === 'number') return minimum
    return typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1
  }
  return type === 'string' && pattern === undefined && format === undefined ? 'x' : undefined
}
