/**
 * Schema errors as findings for people, one for each fault, without follow-up noise.
 * Source: docs/design/lint.md#schema-errors
 */
import type { ErrorObject } from 'ajv'
import { createFinding, type Diagnostic } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { formatPointer } from '../text/pointer.ts'
import { missingKeys } from './missing-keys.ts'
import type { SchemaName } from './schema-keys.ts'
import { explainUnknownKey, readMergeKey, unknownKey } from './unknown-keys.ts'
import { bareSchema } from './wrong-forms.ts'
import { describeWrongValue } from './wrong-values.ts'

/** @param all the errors of the schema's validator */
export function shapeFindings(schema: SchemaName, file: DocumentSpans, all: readonly ErrorObject[]): Diagnostic[] {
  const errors = withoutRepeats(all)
  const findings: Diagnostic[] = []
  // Keys that are not reported as missing again: reading the head reports the first two, and an unknown key may have been meant as one.
  const meant = new Set(['/apiVersion', '/kind'])
  const unknown: ErrorObject[] = []
  const bare = new Set<string>()
  for (const error of errors) {
    if (error.keyword !== 'additionalProperties' || bare.has(error.instancePath)) continue
    const whole = bareSchema(schema, file, error)
    if (whole !== undefined) {
      bare.add(error.instancePath)
      findings.push(whole)
      continue
    }
    if (readMergeKey(file, error, meant)) continue
    const found = explainUnknownKey(schema, file, error, meant)
    if (found === undefined) unknown.push(error)
    else findings.push(found)
  }
  const missing = missingKeys(schema, errors, meant)
  // An unknown key in a mapping that lacks one was probably meant as that one: one message for both.
  const reported = new Set(bare)
  for (const error of unknown) {
    const at = error.instancePath
    findings.push(unknownKey(schema, file, error, reported.has(at) ? undefined : missing.get(at)))
    reported.add(at)
  }
  for (const [pointer, names] of missing)
    if (!reported.has(pointer))
      findings.push(
        createFinding(
          'doc/schema',
          'error',
          file.placeOf(pointer),
          `${formatPointer(pointer) || 'The document'} needs ${names.inWords}.`,
          {
            missing: names.keys,
          },
        ),
      )
  for (const error of errors) {
    const found = describeWrongValue(schema, file, error)
    if (found !== undefined) findings.push(found)
  }
  return findings
}

/** Leaves out errors that only repeat another one: those inside a branch of `oneOf`, or beside a wrong type. */
function withoutRepeats(errors: readonly ErrorObject[]): ErrorObject[] {
  const pathsOf = (keyword: string): ReadonlySet<string> =>
    new Set(errors.filter((error) => error.keyword === keyword).map((error) => error.instancePath))
  const [unwanted, mistyped] = [pathsOf('false schema'), pathsOf('type')]
  return errors.filter((error) => {
    if (error.keyword === 'if' || (error.keyword === 'pattern' && error.propertyName !== undefined)) return false
    if (/\/oneOf\/\d+\//.test(error.schemaPath)) return false
    if (unwanted.has(error.instancePath)) return error.keyword === 'false schema'
    if (error.keyword !== 'type' && mistyped.has(error.instancePath)) return false
    // The rule `limits/non-positive` reports this for every limit.
    return error.keyword !== 'minimum' || !error.instancePath.startsWith('/spec/limits/')
  })
}
