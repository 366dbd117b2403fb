/**
 * `svc.ask_user` and `svc.request_input`: calls by which a model asks people for input.
 * Source: docs/design/models-and-tools.md#built-in-tools
 */
import type { JsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { ToolCall } from '../../spec/run.ts'
import { ASK_USER } from '../session/bindings.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import { settleWithError, toolError } from './settle.ts'

export const isReplyRequest = (call: ToolCall): boolean => call.ref === ASK_USER

/** `svc.ask_user`: the call waits for the next reply to the run. */
export function requestReply(call: CallHandle): ToolCall {
  if (call.run.record.depth > 0)
    return settleWithError(call, 'invalid', toolError('not_available', 'Only the root agent can ask its user.'))
  call.addDispatchStep('builtin')
  return call.to({ at: 'listening' })
}

interface InputOption {
  readonly id: string
  readonly label: string
}

interface InputRequest {
  readonly kind: 'text' | 'number' | 'multi_option'
  readonly prompt: string
  readonly options?: readonly (InputOption | string)[]
  readonly min?: number
  readonly max?: number
}

/** `svc.request_input`: opens a task of the kind that the model names. */
export function requestInput(call: CallHandle): ToolCall {
  const { id, name, arguments: given } = call.record
  // `authorizeCall` has checked the arguments against the schema of the tool.
  const { kind, prompt, options: offered, min, max } = fromJson<InputRequest>(given, 'kind', 'prompt')
  const options = offered?.map((each) => (typeof each === 'string' ? { id: each, label: each } : each)) ?? []
  const problem = findUnanswerable(kind, options, min, max)
  if (problem !== undefined) {
    const error = toolError('invalid_arguments', `The arguments of ${name} are not valid.`, { details: [problem] })
    return settleWithError(call, 'invalid', error)
  }
  call.addDispatchStep('builtin')
  const task = call.run.openTask({
    kind,
    callId: id,
    title: prompt,
    prompt,
    ...(kind === 'multi_option' && { options }),
    ...(kind === 'number' && min !== undefined && { min }),
    ...(kind === 'number' && max !== undefined && { max }),
  })
  return call.to({ at: 'awaiting', task: task.id })
}

/** Why nobody could answer the request, in the form of an argument error; undefined if somebody can. */
function findUnanswerable(
  kind: InputRequest['kind'],
  options: readonly InputOption[],
  min = -Infinity,
  max = Infinity,
): JsonObject | undefined {
  if (kind === 'number' && min > max) return { path: '/max', message: `must be at least min, ${min}` }
  if (kind !== 'multi_option') return undefined
  if (options.length === 0) return { path: '/options', message: 'is required for multi_option' }
  const duplicate = options.find((each, at) => options.findIndex((other) => other.id === each.id) !== at)
  return duplicate && { path: '/options', message: `offers "${duplicate.id}" twice` }
}
