/** `svc approve` and `svc reject`. The command is the decision, so neither asks for confirmation or takes `--yes`. */
import { fail } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import type { InboxItem } from '../../../spec/operator.ts'
import { safeText } from '../../../terminal/text.ts'
import { shortId } from '../../../terminal/time.ts'
import { askAcknowledgement } from '../../runs/acknowledge.ts'
import type { CommandContext } from '../../shell/command.ts'
import { parseJson, readText } from '../../runs/input.ts'
import { outputUnderReview } from '../../runs/output-review.ts'
import { nextOf, subjectOf, withTaskChannel, type AnswerReport, type AnswerReceipt } from '../../runs/task-channel.ts'

export async function approve(call: CommandContext): Promise<void> {
  const { given, out } = call
  const note = given.text('note')
  await decideEach(
    call,
    async (item) => {
      const output = outputUnderReview(item.task)
      const edited =
        output !== undefined || given.text('edit') === undefined
          ? undefined
          : await readEdited(call, given.text('edit')!, item)
      const effective = edited ? { ...item, args: edited } : item
      const acknowledged = await acknowledgement(call, effective)
      return {
        answer: { approved: true, ...(output !== undefined && { textValue: await readOutput(call, output) }) },
        metadata: {
          ...(note !== undefined && { 'svc/comment': note }),
          ...(edited && { 'svc/arguments': edited }),
          ...(acknowledged && { 'svc/acknowledged': true }),
        },
        say: (verdict, told) => {
          const { have, need } = verdict.approvals
          const rest = have < need ? `${need - have} more needed` : nextOf(item, told)
          out.line(`${told.again ? 'already ' : ''}approved ${subjectOf(effective)} (${have} of ${need}); ${rest}`)
        },
      }
    },
    true,
  )
}

export async function reject(call: CommandContext): Promise<void> {
  const { given, mode, io, out, signal } = call
  let reason = given.text('reason')
  if (reason === undefined && given.choice('reason') !== false) {
    if (!mode.interactive)
      throw fail(
        'usage',
        { what: 'A reason is required when not interactive.' },
        { fix: '--reason TEXT   or   --no-reason' },
      )
    reason = await io.prompts.text('Reason:', signal)
  }
  await decideEach(
    call,
    async (item) => ({
      answer: { approved: false },
      metadata: reason ? { 'svc/comment': reason } : {},
      say: (_, told) => {
        const fails = item.task?.on_reject === 'fail'
        const then = fails ? 'fail the run' : 'return to agent'
        const next = nextOf(item, told, fails ? 'ends' : 'continues')
        out.line(`${told.again ? 'already ' : ''}rejected; on_reject: ${then}; ${next}`)
      },
    }),
    false,
  )
}

interface Deed {
  readonly answer: JsonObject
  readonly metadata: JsonObject
  readonly say: (verdict: AnswerReceipt, told: AnswerReport) => void
}

/** Decides one task after the other. The first refusal ends the command; earlier decisions stay. */
async function decideEach(
  call: CommandContext,
  prepare: (item: InboxItem) => Promise<Deed>,
  approves: boolean,
): Promise<void> {
  const { given, mode, out } = call
  const digest = given.text('args-digest')
  await withTaskChannel(call, async (desk) => {
    const found: InboxItem[] = []
    for (const text of given.rest(0)) found.push(await desk.find(text))
    for (const item of found) checkKind(item, digest)
    if (approves) for (const item of found) await checkSeen(call, item)
    const items: AnswerReceipt[] = []
    for (const item of found) {
      const { answer, metadata, say } = await prepare(item)
      const { verdict, told } = await desk.answer(item, answer, metadata)
      items.push(verdict)
      if (!mode.json) say(verdict, told)
    }
    if (mode.json) await out.json({ items, total: items.length })
  })
}

function checkKind(item: InboxItem, digest: string | undefined): void {
  if (item.kind !== 'approval' && item.kind !== 'escalation')
    throw fail(
      'usage',
      { what: `Task ${shortId(item.userTaskId)} asks for an answer (${item.kind}), not for an approval.` },
      { fix: `svc answer ${shortId(item.userTaskId)} …` },
    )
  if (
    digest !== undefined &&
    item.argsDigest !== undefined &&
    !item.argsDigest.startsWith(digest.startsWith('sha256:') ? digest : `sha256:${digest}`)
  )
    throw fail('arguments_changed', undefined, { fix: 'svc inbox     look again, then answer' })
}

/**
 * Where the arguments were edited, or several people must approve, an approver confirms which arguments were seen: by their
 * digest, or at a terminal, which shows them. Source: policies, section 5.
 */
async function checkSeen({ given, mode, io, out, signal }: CommandContext, item: InboxItem): Promise<void> {
  const needsDigest = item.argsDigest !== undefined && (item.approvals.need > 1 || (item.task?.edits?.length ?? 0) > 0)
  if (!needsDigest || given.text('args-digest') !== undefined || given.text('edit') !== undefined) return
  if (!mode.interactive)
    throw fail('digest_required', undefined, {
      fix: 'svc inbox --json shows args and argsDigest; then  --args-digest SHA',
    })
  out.message(safeText(`${subjectOf(item)}  ${JSON.stringify(item.args)}`))
  if (!(await io.prompts.confirm('Approve it with these arguments?', signal)))
    throw fail('usage', { what: 'Nothing was approved.' })
}

async function readEdited(call: CommandContext, given: string, item: InboxItem): Promise<JsonObject> {
  const text = given === 'editor' ? await openEdited(call, item) : given
  const value = parseJson(text.startsWith('@') ? await readText(text.slice(1), call) : text, '--edit')
  if (!isJsonObject(value)) throw fail('usage', { what: '--edit takes the arguments as one object.' })
  return value
}

/** The edited output: from `--edit`, else from the editor. */
async function readOutput(call: CommandContext, output: string): Promise<string> {
  const { given, mode, io, signal } = call
  const text = given.text('edit') ?? 'editor'
  if (text.startsWith('@')) return await readText(text.slice(1), call)
  if (text !== 'editor') return text
  if (!mode.interactive)
    throw fail(
      'usage',
      { what: 'The output is not valid; another is needed in its place.' },
      { fix: '--edit TEXT, or --edit @FILE' },
    )
  return (await io.prompts.edit(output, signal)).trim()
}

async function openEdited({ mode, io, signal }: CommandContext, { args = {} }: InboxItem): Promise<string> {
  if (!mode.interactive)
    throw fail('needs_terminal', { what: 'Nobody can edit here.' }, { fix: '--edit JSON, or --edit @FILE' })
  return await io.prompts.edit(`${JSON.stringify(args, null, 2)}\n`, signal)
}

/** The acknowledgement that a policy requires: `--ack`, or the person types the key fact. */
async function acknowledgement({ given, mode, io, signal }: CommandContext, item: InboxItem): Promise<boolean> {
  if (given.flag('ack')) return true
  if (item.task?.comprehension_required !== true) return false
  if (!mode.interactive)
    throw fail(
      'usage',
      { what: 'The policy asks the approver to confirm that the arguments were understood.' },
      { fix: '--ack' },
    )
  if (await askAcknowledgement({ ...item.task, ...(item.args !== undefined && { arguments: item.args }) }, io, signal))
    return true
  throw fail('usage', { what: 'That is not what the call says; nothing was approved.' })
}
