/** Checks final answers against the output that the agent declares. Source: docs/design/models-and-tools.md#output */
import { InexactNumberError, describeInexactNumber } from '../../base/json/exact-number.ts'
import type { InvalidPlace } from '../../base/failure.ts'
import { type JsonValue, JsonBoundError, parseJson } from '../../base/json/json.ts'
import type { RunState } from '../../spec/run/run.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { checkValue } from '../../tools/check/check.ts'
import { startTurn } from '../limits/request-completion.ts'
import type { RunHandle } from '../transaction/transaction.ts'
import { completedState, failedState } from '../limits/ending.ts'

/** How often an invalid output is sent back to the model. */
const MAX_RETRIES = 2

export type ParsedOutput = { readonly value: JsonValue } | { readonly errors: readonly InvalidPlace[] }

/** Parses and checks the text of a final answer. */
export function readOutput({ output }: AgentSnapshot, text: string): ParsedOutput {
  if (output.format === 'text') return { value: text }
  let value: JsonValue
  try {
    value = parseJsonAnswer(text)
  } catch (error) {
    if (error instanceof InexactNumberError)
      return { errors: [{ path: error.pointer, message: describeInexactNumber(error.written) }] }
    return { errors: [{ path: '', message: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }] }
  }
  const errors = output.schema === undefined ? [] : checkValue(output.schema, value)
  return errors.length === 0 ? { value } : { errors }
}

/** Completes the run with a final answer, or handles an invalid one as `on_invalid` of the agent says. */
export function concludeRun(run: RunHandle, turn: number, text: string, repaired: boolean): RunState {
  const snapshot = run.snapshot
  const read = readOutput(snapshot, text)
  if ('value' in read) {
    if (snapshot.output.format === 'json')
      run.addStep('OutputValidation', { valid: true, errors: [], action: 'accept' })
    return completedState(read.value)
  }
  const action = chooseInvalidOutputAction(run, repaired)
  const errors = read.errors.map(({ path, message }) => ({ path, message }))
  run.addStep('OutputValidation', { valid: false, errors, action })
  switch (action) {
    case 'retry':
      run.updateUsage({ outputAttempts: run.usage.outputAttempts + 1 })
      return startTurn(run, turn + 1)
    case 'repair':
      return startTurn(run, turn + 1, { repair: true })
    case 'escalate':
      return {
        at: 'reviewing',
        turn,
        task: run.openTask({
          kind: 'escalation',
          about: 'output',
          title: `${run.record.agentName} gave an output that is not valid`,
          prompt: 'Approve with the output as textValue, or reject to fail the run.',
          reason: describeErrors(read.errors),
          context: { output: text, errors },
        }).id,
      }
    case 'fail':
      return failedState('output_invalid', `The output is not valid: ${describeErrors(read.errors)}.`)
  }
}

function chooseInvalidOutputAction(run: RunHandle, repaired: boolean): AgentSnapshot['output']['on_invalid'] {
  const wanted = run.snapshot.output.on_invalid
  if (wanted === 'retry') return run.usage.outputAttempts < MAX_RETRIES ? 'retry' : 'fail'
  return wanted === 'repair' && repaired ? 'fail' : wanted
}

export const describeErrors = (errors: readonly InvalidPlace[]): string =>
  errors.map(({ path, message }) => (path === '' ? `the output ${message}` : `${path} ${message}`)).join('; ')

/**
 * Parses an answer that is JSON as a whole, also within one Markdown fence, after thinking in tags, or after a byte order mark. Other
 * text around it makes it invalid: nobody could say which of two values was meant.
 * @throws what `parseJson` throws for the text as it is
 */
export function parseJsonAnswer(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonBoundError || error instanceof InexactNumberError) throw error
    const inner = unwrap(text)
    if (inner === text) throw error
    try {
      return parseJson(inner)
    } catch (again) {
      // The value was found, so what is wrong with it is told.
      throw again instanceof JsonBoundError || again instanceof InexactNumberError ? again : error
    }
  }
}

function unwrap(text: string): string {
  const answer = text
    .replace(/^\ufeff/, '')
    .trim()
    .replace(THINKING, '')
    .trim()
  return FENCE.exec(answer)?.[1] ?? answer
}

/** Blocks of thinking before the answer. A tag without an end leaves the text as it is. */
const THINKING = /^(?:<(think|thinking|reasoning)>[^]*?<\/\1>\s*)+/i

/** One fence around everything, with or without the name of its language. */
const FENCE = /^(?:```|~~~)[ \t]*(?:jsonc?|json5|javascript|js)?[ \t]*\r?\n([^]*?)\r?\n?[ \t]*(?:```|~~~)$/i
