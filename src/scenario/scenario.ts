/** `*.scenario.yaml`: a test of one run. Source: docs/design/command-line.md#tests */
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import { readTestFile, type ReadTestFile } from '../documents/workspace/test-file.ts'
import { ruleFindings, type DecisionRule } from './decisions.ts'
import type { OutsideEvent } from './outside.ts'

export interface ToolDouble {
  readonly result?: JsonValue
  readonly error?: string
  readonly delay?: string
  readonly drop?: boolean
  /** How long the tool is out of reach, from its first call. */
  readonly unreachable?: string
  /** What its server asks a person before it answers, as the params of `elicitation/create`. */
  readonly asks?: JsonObject
  /** Answers by arguments. Equal calls get theirs in order, the last one again; any other call gets `result` or `error`, if given. */
  readonly answers?: readonly RecordedAnswer[]
}

export interface RecordedAnswer {
  readonly arguments: JsonValue
  readonly result?: JsonValue
  readonly error?: string
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
  readonly holds?: readonly string[]
  readonly subjects?: readonly string[]
}

/** A run that is played before the tested one. */
export interface EarlierRun {
  readonly agent?: string
  readonly input?: JsonObject
  readonly decide?: readonly DecisionRule[]
}

export interface Scenario {
  readonly scenario: string
  readonly bundle?: string
  readonly agent?: string
  readonly input?: JsonObject
  readonly model?: string | { readonly replay: string } | { readonly scripts: Readonly<Record<string, string>> }
  readonly tools?: Readonly<Record<string, ToolDouble>>
  readonly before?: readonly EarlierRun[]
  readonly decide?: readonly DecisionRule[]
  readonly outside?: readonly OutsideEvent[]
  /** True: once the run has ended, an operator undoes what it made. */
  readonly undo?: boolean
  readonly expect?: ScenarioExpectation
}

/** The scenarios of a file, one per YAML document. An unknown key is an error. */
export const readScenarios = (text: string, path: string): ReadTestFile<Scenario> =>
  readTestFile('scenario', text, path, ({ before = [], decide = [] }, file) => [
    ...before.flatMap((run, at) => ruleFindings(file, run.decide ?? [], `/before/${at}/decide`)),
    ...ruleFindings(file, decide, '/decide'),
  ])
