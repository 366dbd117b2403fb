/** What a run waits for, as interrupts of AG-UI, and their answers as messages to the run. */
import { fail } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import type { MessageBody, PendingAnswer } from '../../../spec/api.ts'
import type { TaskRecord } from '../../../spec/task.ts'
import { taskAddress } from '../../../view/console-address.ts'
import type { AgUiAnswer } from './ag-ui-input.ts'

/** A question that is answered with text has no task. */
const interruptIdOf = ({ userTaskId, runId }: PendingAnswer): string => userTaskId ?? `reply-${runId}`

/** @param tasks those that the caller may see; names the calls */
export const toInterrupts = (
  pending: readonly PendingAnswer[],
  tasks: readonly TaskRecord[],
  consoleUrl: string | null,
) =>
  pending.map((each) => {
    const { kind, prompt, call, expiresAt, options, votes, userTaskId } = each
    const callId = tasks.find(({ id }) => id === userTaskId)?.callId
    return {
      id: interruptIdOf(each),
      reason: kind,
      message: prompt,
      ...(callId !== undefined && { toolCallId: callId }),
      responseSchema: schemaOf(each),
      ...(typeof expiresAt === 'string' && { expiresAt }),
      metadata: {
        runId: each.runId,
        ...(call && { call: { name: call.name, arguments: call.arguments }, argumentsDigest: call.digest }),
        ...(options && { options }),
        ...(votes && { votes }),
        ...(consoleUrl !== null && userTaskId !== undefined && { url: taskAddress(consoleUrl, userTaskId) }),
      },
    }
  })

/** Schema of the payload that answers it. */
function schemaOf({ kind, schema, options, call }: PendingAnswer): JsonObject {
  switch (kind) {
    case 'approval':
      return {
        type: 'object',
        properties: {
          approved: { type: 'boolean' },
          reason: { type: 'string' },
          // Whoever shows the call says with it which one was shown.
          ...(call && { argumentsDigest: { type: 'string', const: call.digest } }),
        },
        required: ['approved'],
      }
    case 'number':
      return { type: 'object', properties: { value: schema ?? { type: 'number' } }, required: ['value'] }
    case 'text':
    case 'reply':
      return { type: 'object', properties: { value: schema ?? { type: 'string' } }, required: ['value'] }
    default:
      return {
        type: 'object',
        properties: { optionId: { type: 'string', enum: (options ?? []).map(({ id }) => id) } },
        required: ['optionId'],
      }
  }
}

/** An answer, and what it answers. */
export interface AnsweredInterrupt {
  readonly pending: PendingAnswer
  readonly answer: AgUiAnswer
}

/**
 * AG-UI continues a thread with answers to all that is open, or with none.
 * @throws Failure `validation_failed`
 */
export function matchAnswers(
  pending: readonly PendingAnswer[],
  answers: readonly AgUiAnswer[],
): readonly AnsweredInterrupt[] {
  const open = new Map(pending.map((each) => [interruptIdOf(each), each]))
  const answered = answers.flatMap((answer) => {
    const waits = open.get(answer.interruptId)
    return waits ? [{ answer, pending: waits }] : []
  })
  const strange = answers.filter(({ interruptId }) => !open.has(interruptId)).map(({ interruptId }) => interruptId)
  if (strange.length > 0)
    throw fail('validation_failed', { what: `/resume names what does not wait any more: ${strange.join(', ')}.` })
  const given = new Set(answers.map(({ interruptId }) => interruptId))
  const left = [...open.keys()].filter((id) => !given.has(id))
  if (left.length > 0)
    throw fail('validation_failed', { what: `/resume must answer all that waits; it lacks ${left.join(', ')}.` })
  return answered
}

/** @returns undefined where the answer abandons a question, which has no answer that says so @throws Failure `validation_failed` */
export function toMessage({ pending, answer }: AnsweredInterrupt): MessageBody | undefined {
  const { runId, userTaskId, kind } = pending
  const to = { runId, ...(userTaskId !== undefined && { userTaskId }) }
  const { interruptId, isCancelled } = answer
  if (isCancelled) return kind === 'approval' ? { ...to, approved: false } : undefined
  const payload = isJsonObject(answer.payload) ? answer.payload : { value: answer.payload ?? null }
  const { approved, reason, argumentsDigest, value, optionId } = payload
  switch (kind) {
    case 'approval': {
      const said = approved ?? value
      if (typeof said !== 'boolean') throw badPayload(interruptId, 'approved: true or false')
      const digest = typeof argumentsDigest === 'string' && { metadata: { 'svc/arguments_digest': argumentsDigest } }
      return { ...to, approved: said, ...(typeof reason === 'string' && { text: reason }), ...digest }
    }
    case 'number':
      if (typeof value !== 'number') throw badPayload(interruptId, 'value: a number')
      return { ...to, numberValue: value }
    case 'text':
      return { ...to, textValue: typeof value === 'string' ? value : JSON.stringify(value ?? payload) }
    case 'reply':
      if (typeof value !== 'string') throw badPayload(interruptId, 'value: a text')
      return { runId, text: value }
    default: {
      const option = optionId ?? value
      if (typeof option !== 'string') throw badPayload(interruptId, 'optionId: the id of an option')
      return { ...to, selectedOptionId: option }
    }
  }
}

const badPayload = (id: string, wants: string) =>
  fail('validation_failed', { what: `The payload that answers ${id} must have ${wants}.` })
