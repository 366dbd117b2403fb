/** The shape check of documents. Source: docs/design/lint.md#schema-errors */
import type { JsonValue } from '../../base/json/json.ts'
import { validate as agent } from '../generated/validators/agent.js'
import { validate as bundle } from '../generated/validators/bundle.js'
import { validate as evalcase } from '../generated/validators/evalcase.js'
import { validate as policy } from '../generated/validators/policy.js'
import { validate as policytest } from '../generated/validators/policytest.js'
import { validate as scenario } from '../generated/validators/scenario.js'
import { validate as tool } from '../generated/validators/tool.js'
import type { Diagnostic } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import type { SchemaName } from './schema-keys.ts'
import { shapeFindings } from './shape-findings.ts'

/** The project file has none of these: every start reads it, and most starts read no document. */
export type DocumentSchema = Exclude<SchemaName, 'config'>

const validators = { agent, tool, policy, bundle, scenario, policytest, evalcase } satisfies Record<
  DocumentSchema,
  unknown
>

export const hasShape = (schema: DocumentSchema, value: JsonValue): boolean => validators[schema](value)

/** Findings for everything in a file that its schema refuses; empty when it has the shape. */
export function checkShape(schema: DocumentSchema, file: DocumentSpans): Diagnostic[] {
  const validate = validators[schema]
  return validate(file.root.value) ? [] : shapeFindings(schema, file, validate.errors ?? [])
}
