import { fail } from '../../../base/failure.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { InboxItem } from '../../../spec/operator.ts'
import { safeText } from '../../../terminal/text.ts'
import { shortId } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { jsonOrText, valueOf } from '../../runs/decide-task.ts'
import { metadataOf } from '../../project/metadata.ts'
import { readOption } from '../../shell/options.ts'
import { drawProbe, nextOf, withTaskChannel } from '../../runs/task-channel.ts'

export async function answer(call: CommandContext): Promise<void> {
  const { given, mode, out } = call
  const metadata = metadataOf(given.list('metadata')) ?? {}
  await withTaskChannel(call, async (desk) => {
    const item = await desk.find(given.argument(0)!)
    if (item.kind === 'approval' || item.kind === 'escalation')
      throw fail(
        'usage',
        { what: `Task ${shortId(item.userTaskId)} asks for an approval.` },
        { fix: `svc approve ${shortId(item.userTaskId)}   or   svc reject ${shortId(item.userTaskId)} --reason …` },
      )
    if (given.flag('probe')) {
      const probed = await desk.probe(item)
      return mode.json ? await out.json(probed) : drawProbe(probed).forEach((line) => out.line(line))
    }
    const value = await read(call, item)
    const { textValue, ...chosen } = value
    const isOutcome = item.kind === 'anomaly_review' && typeof textValue === 'string'
    const { verdict, told: how } = isOutcome
      ? await desk.answer(item, chosen, { ...metadata, 'svc/result': jsonOrText(textValue) })
      : await desk.answer(item, value, metadata)
    if (mode.json) return await out.json({ items: [verdict], total: 1 })
    const hasEnded = item.kind === 'anomaly_review' && !item.options?.some(({ id }) => id === 'retry')
    const next = hasEnded ? `run ${shortId(item.runId)} stays ${verdict.runStatus}` : nextOf(item, how)
    out.line(`${how.again ? 'already ' : ''}answered ${describeAnswer(item, value)}; ${next}`)
  })
}

/** The answer from `--option`, `--text` or `--number`, else from VALUE according to the kind of the task. */
async function read({ given, io }: CommandContext, item: InboxItem): Promise<JsonObject> {
  const [option, text, number] = [given.text('option'), given.text('text'), given.text('number')]
  const typed = given.argument(1) === '-' ? (await io.stdin.text()).trimEnd() : given.argument(1)
  if (option === undefined && text === undefined && number === undefined) {
    if (typed === undefined) throw fail('usage', { what: 'There is no answer.' }, { fix: 'svc answer TASK VALUE' })
    return { ...valueOf(item.kind, item.options, typed) } as JsonObject
  }
  return {
    ...(option !== undefined && { selectedOptionId: readOption(item.options ?? [], option).id }),
    ...(text !== undefined && { textValue: text }),
    ...(number !== undefined && valueOf('number', undefined, number)),
  } as JsonObject
}

function describeAnswer(item: InboxItem, { selectedOptionId, textValue, numberValue }: JsonObject): string {
  const option = item.options?.find(({ id }) => id === selectedOptionId)
  if (option) return `"${safeText(option.label)}" (option ${safeText(option.id)})`
  return safeText(JSON.stringify(textValue ?? numberValue ?? null))
}
