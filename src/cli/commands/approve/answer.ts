import type { TaskDecision } from '../../../client/index.ts'
import { CANCELS_QUESTION } from '../../../spec/server-question.ts'
import type { ShownTask } from '../../../spec/task.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { jsonOrText, valueOf } from '../../runs/card/answer-value.ts'
import { metadataOf } from '../../project/metadata.ts'
import { readOption } from '../../../client/task-option.ts'
import { drawProbe, nextOf, withTaskChannel } from '../../runs/task-channel.ts'
import type { receiptsAnswer } from '../../answers/approve.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function answer(
  call: CommandContext<ValueOf<typeof receiptsAnswer> | OperatorAnswer<'POST /tasks/:id/probe'>>,
): Promise<void> {
  const { given, mode, out } = call
  const metadata = metadataOf(given.list('metadata')) ?? {}
  await withTaskChannel(call, async (channel) => {
    const task = await channel.find(given.required(0))
    if (task.kind === 'approval' || task.kind === 'escalation')
      throw usageFailure(
        `Task ${shortId(task.id)} asks for an approval.`,
        `svc approve ${shortId(task.id)}   or   svc reject ${shortId(task.id)} --reason …`,
      )
    if (given.flag('probe')) {
      const probed = await channel.probe(task)
      return mode.json ? await out.json(probed) : drawProbe(probed).forEach((line) => out.line(line))
    }
    const value = refusalIn(call, task) ?? (await read(call, task))
    const { textValue, ...chosen } = value
    const isOutcome = task.kind === 'anomaly_review' && typeof textValue === 'string'
    const { receipt, report } = isOutcome
      ? await channel.answer(task, { ...chosen, metadata: { ...metadata, 'svc/result': jsonOrText(textValue) } })
      : await channel.answer(task, { ...value, metadata: { ...metadata, ...value.metadata } })
    if (mode.json) return await out.json({ items: [receipt], total: 1 })
    const hasEnded = task.kind === 'anomaly_review' && !task.options?.some(({ id }) => id === 'retry')
    const next = hasEnded ? `run ${shortId(task.runId)} stays ${receipt.runStatus}` : nextOf(task, report)
    const did = value.approved === false ? 'declined' : `answered ${describeAnswer(task, value)}`
    out.line(`${report.again ? 'already ' : ''}${did}; ${next}`)
  })
}

/** `--decline` or `--cancel`, which only the question of a server takes. */
function refusalIn({ given }: CommandContext, task: ShownTask): TaskDecision | undefined {
  const isCancelled = given.flag('cancel')
  if (!isCancelled && !given.flag('decline')) return undefined
  if (!task.question)
    throw usageFailure(`Task ${shortId(task.id)} is no question of a server.`, `svc answer ${shortId(task.id)} …`)
  return { approved: false, ...(isCancelled && { metadata: { [CANCELS_QUESTION]: true } }) }
}

/** The answer from `--option`, `--text` or `--number`, else from VALUE according to the kind of the task. */
async function read({ given, io }: CommandContext, task: ShownTask): Promise<TaskDecision> {
  const [option, text, number] = [given.text('option'), given.text('text'), given.text('number')]
  const typed = given.argument(1) === '-' ? (await io.stdin.text()).trimEnd() : given.argument(1)
  if (option === undefined && text === undefined && number === undefined) {
    if (typed === undefined) throw usageFailure('There is no answer.', 'svc answer TASK VALUE')
    return valueOf(task.kind, task.options, typed)
  }
  return {
    ...(option !== undefined && { selectedOptionId: readOption(task.options ?? [], option).id }),
    ...(text !== undefined && { textValue: text }),
    ...(number !== undefined && valueOf('number', undefined, number)),
  }
}

function describeAnswer(task: ShownTask, { selectedOptionId, textValue, numberValue }: TaskDecision): string {
  const option = task.options?.find(({ id }) => id === selectedOptionId)
  if (option) return `"${safeText(option.label)}" (option ${safeText(option.id)})`
  return safeText(JSON.stringify(textValue ?? numberValue ?? null))
}
