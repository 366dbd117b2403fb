import type { JsonSchema } from './snapshot.ts'

/** Input schema of a delegation if neither the binding nor the child has one. */
const MESSAGE: JsonSchema = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
  additionalProperties: false,
}

/**
 * What the arguments of a delegation must satisfy.
 * @param binding its `input_schema` @param contract the child's input contract
 *
 * Source: docs/design/models-and-tools.md#sub-agents
 */
export const delegationSchema = (binding: JsonSchema | undefined, contract: JsonSchema | undefined): JsonSchema =>
  binding ?? contract ?? MESSAGE
