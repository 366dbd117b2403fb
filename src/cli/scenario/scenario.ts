/** `*.scenario.yaml`: a test of one run. Source: command line, 4. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import { createSpans } from '../../documents/text/document.ts'
import { decodeUtf8 } from '../../documents/workspace/read.ts'
import { checkShape } from '../../documents/workspace/shape.ts'
import { readYaml } from '../../documents/text/yaml.ts'
import type { DecisionRule } from '../runs/decisions.ts'
import { ruleFindings } from '../runs/decisions.ts'

export interface ToolDouble {
  readonly result?: JsonValue
  readonly error?: string
  readonly delay?: string
  readonly drop?: boolean
}

export interface ExpectedCall {
  readonly tool: string
  readonly arguments?: JsonObject
  readonly times?: number
}

export interface ExpectedDecision {
  readonly tool: string
  readonly decision?: string
  readonly by?: string
}

export interface ScenarioExpectation {
  readonly status?: string
  readonly error_code?: string
  readonly output?: JsonValue
  readonly output_schema?: JsonObject
  readonly calls?: readonly ExpectedCall[]
  readonly decisions?: readonly ExpectedDecision[]
  readonly limits?: readonly string[]
  readonly subjects?: readonly string[]
}

export interface Scenario {
  readonly scenario: string
  readonly bundle?: string
  readonly agent?: string
  readonly input?: JsonObject
  readonly model?: string | { readonly replay: string } | { readonly scripts: Readonly<Record<string, string>> }
  readonly tools?: Readonly<Record<string, ToolDouble>>
  readonly decide?: readonly DecisionRule[]
  readonly expect?: ScenarioExpectation
}

export interface ReadScenarios {
  readonly scenarios: readonly Scenario[]
  /** An error among them means that `scenarios` is empty. */
  readonly findings: readonly Diagnostic[]
}

/** The scenarios of a file, one per YAML document. An unknown key is an error. */
export function readScenarios(text: string, path: string): ReadScenarios {
  const { source, findings } = decodeUtf8({ path, text })
  if (source === undefined) return { scenarios: [], findings }
  const reading = readYaml(source)
  findings.push(...reading.findings)
  const scenarios: Scenario[] = []
  for (const root of reading.roots) {
    const file = createSpans(source, root)
    const shapeFindings = checkShape('scenario', file)
    findings.push(...shapeFindings)
    if (shapeFindings.length > 0) continue
    // `checkShape` validated the type.
    const scenario = root.value as unknown as Scenario
    findings.push(...ruleFindings(file, scenario.decide ?? [], '/decide'))
    scenarios.push(scenario)
  }
  return { scenarios: findings.some(({ severity }) => severity === 'error') ? [] : scenarios, findings }
}
