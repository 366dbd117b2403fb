/** Reads `*.policytest.yaml`: calls with the decision expected for each. Source: policies, section 7. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { createFinding, type Diagnostic } from '../../documents/text/diagnostic.ts'
import { createSpans } from '../../documents/text/document.ts'
import { decodeUtf8 } from '../../documents/workspace/read.ts'
import { checkShape } from '../../documents/workspace/shape.ts'
import { readYaml } from '../../documents/text/yaml.ts'

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

export interface ReadPolicyTests {
  /** One per YAML document. */
  readonly tests: readonly PolicyTest[]
  /** An error among them means that `tests` is empty. */
  readonly findings: readonly Diagnostic[]
}

export function readPolicyTests(text: string, path: string): ReadPolicyTests {
  const { source, findings } = decodeUtf8({ path, text })
  if (source === undefined) return { tests: [], findings }
  const reading = readYaml(source)
  findings.push(...reading.findings)
  const tests: PolicyTest[] = []
  for (const root of reading.roots) {
    const file = createSpans(source, root)
    const shapeFindings = checkShape('policytest', file)
    findings.push(...shapeFindings)
    if (shapeFindings.length > 0) continue
    // `checkShape` validated the type.
    const test = root.value as unknown as PolicyTest
    if (test.policies !== undefined && (test.bundle !== undefined || test.agent !== undefined))
      findings.push(
        createFinding(
          'doc/schema',
          'error',
          file.placeOf('/policies'),
          'policies stand alone: bundle and agent do not belong beside them.',
        ),
      )
    tests.push(test)
  }
  return { tests: findings.some(({ severity }) => severity === 'error') ? [] : tests, findings }
}
