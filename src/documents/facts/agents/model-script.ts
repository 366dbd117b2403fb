/** The script of a scripted model: the file that `provider_options.script` names. Source: docs/design/models-and-tools.md#record-and-replay */
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { fromJsonList } from '../../../base/json/typed-json.ts'
import type { ScriptTurn } from '../../../spec/snapshot.ts'
import type { FileInput } from '../../text/decode.ts'
import { readValues } from '../../workspace/read.ts'

export type ModelScript = { readonly turns: readonly ScriptTurn[] } | { readonly problem: string }

/** Reads a script. A problem begins with the path and, where there is one, the line. */
export function readModelScript(file: FileInput): ModelScript {
  const { values, findings } = readValues(file)
  const fault = findings.find(({ severity }) => severity === 'error')
  if (fault) return { problem: `${file.path}:${fault.range.start.line} cannot be read: ${fault.message}` }
  const [turns] = values
  if (!Array.isArray(turns)) return { problem: `${file.path} is not a script, which is a list of turns.` }
  const problem = turns.flatMap((turn, at) => turnProblem(turn, at + 1) ?? [])[0]
  // Every turn was checked to be one.
  return problem === undefined ? { turns: fromJsonList<ScriptTurn>(turns) } : { problem: `${file.path}: ${problem}` }
}

const TURN_KEYS = ['when', 'say', 'call', 'usage', 'delay_ms', 'fail']
const WHEN_KEYS = ['contains', 'tool', 'matches', 'input']

function turnProblem(turn: JsonValue, number: number): string | undefined {
  const here = `turn ${number}`
  if (!isJsonObject(turn)) return `${here} is not a mapping.`
  const unknown = Object.keys(turn).find((key) => !TURN_KEYS.includes(key))
  if (unknown !== undefined) return `${here} has no key "${unknown}"; it has ${TURN_KEYS.join(', ')}.`
  const { when, call, delay_ms: delay } = turn
  if (when !== undefined) {
    const matcher = isJsonObject(when) ? Object.keys(when).find((key) => !WHEN_KEYS.includes(key)) : ''
    if (matcher !== undefined) return `${here}: \`when\` has ${WHEN_KEYS.join(', ')}.`
  }
  if (delay !== undefined && !(typeof delay === 'number' && delay >= 0))
    return `${here}: delay_ms is a number of milliseconds.`
  if (call === undefined) return undefined
  const calls = Array.isArray(call) ? call : [call]
  return calls.every(isCall) ? undefined : `${here}: a call has a \`tool\` and, where it needs them, \`arguments\`.`
}

const isCall = (call: JsonValue): boolean =>
  isJsonObject(call) &&
  typeof call['tool'] === 'string' &&
  (call['arguments'] === undefined || isJsonObject(call['arguments'])) &&
  Object.keys(call).every((key) => key === 'tool' || key === 'arguments')
