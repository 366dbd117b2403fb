/** Reads `*.policytest.yaml`: calls with the decision expected for each. Source: docs/design/policies.md#replay */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { createFinding } from '../../documents/text/diagnostic.ts'
import { readTestFile, type ReadTestFile } from '../../documents/workspace/test-file.ts'

export interface PolicyCase {
  readonly name?: string
  readonly tool: string
  readonly args?: JsonValue
  readonly context?: JsonObject
  readonly expect: string
  readonly by?: string
  readonly approvals?: number
}

export interface PolicyTest {
  readonly bundle?: string
  readonly agent?: string
  readonly policies?: readonly string[]
  readonly calls: readonly PolicyCase[]
}

/** One test for each YAML document of the file. */
export const readPolicyTests = (text: string, path: string): ReadTestFile<PolicyTest> =>
  readTestFile('policytest', text, path, ({ policies, bundle, agent }, file) =>
    policies !== undefined && (bundle !== undefined || agent !== undefined)
      ? [createFinding('doc/schema', 'error', file.placeOf('/policies'), STAND_ALONE)]
      : [],
  )

const STAND_ALONE = 'policies stand alone: bundle and agent do not belong beside them.'
