/** `svc approve`, which at a terminal shows the card and asks, and `svc reject`. Neither takes `--yes`. */
import { setTimeout as after } from 'node:timers/promises'
import { fail, Failure } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import type { TaskDecision } from '../../../client/index.ts'
import { findBulkProblem, findReviewReason, IN_BULK, type ShownTask } from '../../../spec/task.ts'
import { reviewTogether, sumAmounts } from '../../../view/task/bulk-review.ts'
import { presentKeyedTask } from '../../../view/task/task-actions.ts'
import { untilKeysDecide } from '../../../view/task/card-reading.ts'
import { drawWholeApproval } from '../../../terminal/approval.ts'
import type { Canvas } from '../../../terminal/screen.ts'
import { drawTable, fitsTable, type TableColumn } from '../../../terminal/table.ts'
import { digestStart, shortId } from '../../../base/text/short-text.ts'
import { askAcknowledgement } from '../../runs/card/acknowledge.ts'
import { actOnEach } from '../../shell/act-on-each.ts'
import type { CommandContext } from '../../shell/command.ts'
import { parseJsonInput, readText } from '../../runs/input.ts'
import { describeApproval } from '../../runs/describe-answer.ts'
import { viewFullScreen } from '../../runs/card/card-surface.ts'
import { messageScreen } from '../../shell/screen/list.ts'
import { describeSeen } from '../../shell/screen/view-lines.ts'
import { outputUnderReview } from '../../../view/output-review.ts'
import { nextOf, withTaskChannel, type AnswerReport, type AnswerReceipt } from '../../runs/task-channel.ts'
import type { decidedTasks } from '../../answers/approve.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function approve(call: CommandContext<ValueOf<typeof decidedTasks>>): Promise<number> {
  const { given, out } = call
  const note = given.text('note')
  return await decideEach(
    call,
    async (task, isAlone) => {
      const output = outputUnderReview(task)
      const edit = output === undefined ? given.text('edit') : undefined
      const edited = edit === undefined ? undefined : await readEdited(call, edit, task)
      // What the tool says of the call speaks of the arguments before.
      const { summary: _, ...unsaid } = task
      const effective = edited ? { ...unsaid, arguments: edited } : task
      // Several tasks were shown and asked about together.
      if (isAlone) await askToApprove(call, effective)
      const acknowledged = await acknowledgement(call, effective)
      return {
        decision: {
          approved: true,
          ...(output !== undefined && { textValue: await readOutput(call, output) }),
          ...(note !== undefined && { comment: note }),
          ...(edited && { arguments: edited }),
          ...(acknowledged && { acknowledged: true }),
        },
        print: (receipt, report) => {
          const { have, need } = receipt.approvals
          const rest = have < need ? '' : `; ${nextOf(task, report)}`
          out.line(`${describeApproval(effective, receipt.approvals, report.again)}${rest}`)
        },
      }
    },
    true,
  )
}

export async function reject(call: CommandContext<ValueOf<typeof decidedTasks>>): Promise<number> {
  const { given, mode, io, out, signal } = call
  let reason = given.text('reason')
  if (reason === undefined && given.choice('reason') !== false) {
    if (!mode.interactive)
      throw usageFailure('A reason is required when not interactive.', '--reason TEXT   or   --no-reason')
    reason = await io.prompts.text('Reason:', signal)
  }
  return await decideEach(
    call,
    async (task) => ({
      decision: { approved: false, ...(reason && { comment: reason }) },
      print: (_, report) => {
        const fails = task.onReject === 'fail'
        const then = fails ? 'fail the run' : 'return to agent'
        const next = nextOf(task, report, fails ? 'ends' : 'continues')
        out.line(`${report.again ? 'already ' : ''}rejected; on_reject: ${then}; ${next}`)
      },
    }),
    false,
  )
}

interface PreparedDecision {
  readonly decision: TaskDecision
  readonly print: (receipt: AnswerReceipt, report: AnswerReport) => void
}

/** Finds and checks all tasks first, then decides one after the other. */
async function decideEach(
  call: CommandContext<ValueOf<typeof decidedTasks>>,
  prepare: (task: ShownTask, isAlone: boolean) => Promise<PreparedDecision>,
  approves: boolean,
): Promise<number> {
  const { given, mode } = call
  const digest = given.text('args-digest')
  return await withTaskChannel(call, async (channel) => {
    const found: ShownTask[] = []
    for (const text of given.rest(0)) found.push(await channel.find(text))
    for (const task of found) checkKind(task, digest, approves)
    if (approves && found.length > 1) await checkTogether(call, found)
    if (approves) for (const task of found) demandDigest(call, task)
    return await actOnEach(
      call,
      found.map(({ id }) => id),
      async (_, at) => {
        const task = found[at]!
        const { decision, print } = await prepare(task, found.length === 1)
        const { receipt, report } = await channel.answer(task, found.length > 1 ? inBulk(decision) : decision)
        if (!mode.json) print(receipt, report)
        return receipt
      },
      (userTaskId, error) => ({ userTaskId, error }),
    )
  })
}

const inBulk = (decision: TaskDecision): TaskDecision => ({
  ...decision,
  metadata: { ...decision.metadata, [IN_BULK]: true },
})

/** A task with its arguments in the columns of the review. */
interface ReviewedTask {
  readonly task: ShownTask
  readonly values: readonly string[]
}

/**
 * Approves several tasks only if each of them may be approved; otherwise it approves none. A terminal first
 * shows their arguments side by side, or as whole cards where there is no room.
 */
async function checkTogether(call: CommandContext, tasks: readonly ShownTask[]): Promise<void> {
  const { mode, io, signal } = call
  for (const task of tasks) {
    const why = findBulkProblem(task)
    if (why !== undefined)
      throw fail('not_in_bulk', { why: `${shortId(task.id)}: ${why}` }, { fix: `svc approve ${shortId(task.id)}` })
  }
  if (!mode.interactive) return
  const { columns, rows } = reviewTogether(tasks)
  const all = tasks.map((task, at): ReviewedTask => ({ task, values: rows[at] ?? [] }))
  const table: readonly TableColumn<ReviewedTask>[] = [
    { title: 'TASK', cell: ({ task }) => shortId(task.id) },
    { title: 'CALL', cell: ({ task }) => task.tool?.ref ?? '' },
    ...columns.map((title, column) => ({ title, cell: ({ values }: ReviewedTask) => values[column] ?? '' })),
  ]
  await showWhole(call, (canvas) =>
    fitsTable(canvas, table, all)
      ? drawTable(canvas, table, all)
      : tasks.flatMap((task) => drawWholeApproval(canvas, presentKeyedTask(task, io.clock.now()), shortId(task.id))),
  )
  const totals = sumAmounts(tasks).map((each) => `, ${each}`)
  if (!(await io.prompts.confirm(`Approve these ${tasks.length}${totals.join('')}?`, signal)))
    throw usageFailure('Nothing was approved.')
}

function checkKind(task: ShownTask, digest: string | undefined, approves: boolean): void {
  if (task.kind !== 'approval' && task.kind !== 'escalation')
    throw usageFailure(
      `Task ${shortId(task.id)} asks for an answer (${task.kind}), not for an approval.`,
      `svc answer ${shortId(task.id)} …`,
    )
  // An empty variable of a script must not count as a digest that was seen.
  if (digest !== undefined && !/^(?:sha256:)?[0-9a-f]{8,64}$/.test(digest))
    throw usageFailure('--args-digest takes a digest of at least 8 digits, as svc inbox --json shows it.')
  if (
    digest !== undefined &&
    task.argumentsDigest !== undefined &&
    !task.argumentsDigest.startsWith(digest.startsWith('sha256:') ? digest : `sha256:${digest}`)
  )
    throw fail(
      'arguments_changed',
      { reviewed: digestStart(digest), now: digestStart(task.argumentsDigest) },
      { fix: `svc inbox     look again, then ${approves ? 'approve' : 'reject'}` },
    )
}

/**
 * Without a terminal nobody sees a card, so an approval names the arguments that were seen, by their digest, wherever the card would
 * have guarded it.
 */
function demandDigest({ given, mode }: CommandContext, task: ShownTask): void {
  // A decided task is not approved again: the server says what became of it.
  if (mode.interactive || given.text('args-digest') !== undefined || task.status !== 'pending') return
  const why = findReviewReason(task)
  if (why === undefined) return
  const id = shortId(task.id)
  throw new Failure(
    'digest_required',
    `Task ${id} is approved with the digest of the arguments that were seen: ${why}.`,
    {
      fix: `svc inbox --json --jq '.items[] | select(.userTaskId == "${task.id}") | {args, argsDigest}'   then   svc approve ${id} --args-digest SHA`,
    },
  )
}

/**
 * At a terminal, shows the whole card and asks, once it can have been read. `--args-digest` says that it was seen before.
 * @throws Failure `usage` where it is not approved
 */
async function askToApprove(call: CommandContext, task: ShownTask): Promise<void> {
  const { given, mode, io, signal } = call
  if (!mode.interactive || given.text('args-digest') !== undefined || task.status !== 'pending') return
  const card = presentKeyedTask(task, io.clock.now())
  await showWhole(call, (canvas) => drawWholeApproval(canvas, card, shortId(task.id)))
  await awaitQuiet(call)
  const question = task.arguments === undefined ? 'Approve it?' : 'Approve it with these arguments?'
  const warning = card.isIrreversible ? 'This cannot be undone. ' : ''
  if (!(await io.prompts.confirm(warning + question, signal))) throw usageFailure('Nothing was approved.')
}

/** How often typed keys are discarded meanwhile. */
const DISCARD_EVERY_MS = 100

/** Discards what is typed until a key can be meant for what was shown last. */
async function awaitQuiet({ io, signal }: CommandContext): Promise<void> {
  const { prompts } = io
  // Scripted prompts have no keyboard.
  if (!prompts.dropTyped) return
  const release = prompts.holdKeys?.()
  const shownAt = io.clock.monotonic()
  try {
    for (;;) {
      await prompts.dropTyped()
      const left = untilKeysDecide(shownAt, prompts.lastTyped?.(['y', 'Enter']) ?? -Infinity, io.clock.monotonic())
      if (left <= 0) return
      await after(Math.min(left, DISCARD_EVERY_MS), undefined, { signal })
    }
  } finally {
    release?.()
  }
}

/** Shows lines to be approved: at once if they fit the terminal, else page by page, to the last. */
async function showWhole(call: CommandContext, layout: (canvas: Canvas) => readonly string[]): Promise<void> {
  const { io, out, signal } = call
  const screen = messageScreen(call)
  const lines = layout(screen)
  if (screen.isAccessible || lines.length <= screen.statusRows) return lines.forEach(out.message)
  const release = io.prompts.holdKeys?.()
  const shown = await viewFullScreen(call, layout, signal).finally(release)
  if (shown.seen < shown.total)
    throw usageFailure(
      `Nothing was approved: ${describeSeen(shown)}.`,
      'the same command again, read to the end   or   --args-digest SHA, from svc inbox --json',
    )
  out.message(describeSeen(shown))
}

async function readEdited(call: CommandContext, given: string, task: ShownTask): Promise<JsonObject> {
  const text = given === 'editor' ? await openEdited(call, task) : given
  const value = parseJsonInput(text.startsWith('@') ? await readText(text.slice(1), call) : text, '--edit')
  if (!isJsonObject(value)) throw usageFailure('--edit takes the arguments as one object.')
  return value
}

/** The edited output: from `--edit`, else from the editor. */
async function readOutput(call: CommandContext, output: string): Promise<string> {
  const { given, mode, io, signal } = call
  const text = given.text('edit') ?? 'editor'
  if (text.startsWith('@')) return await readText(text.slice(1), call)
  if (text !== 'editor') return text
  if (!mode.interactive)
    throw usageFailure('The output is not valid; another is needed in its place.', '--edit TEXT, or --edit @FILE')
  return (await io.prompts.edit(output, signal)).trim()
}

async function openEdited({ mode, io, signal }: CommandContext, { arguments: args = {} }: ShownTask): Promise<string> {
  if (!mode.interactive)
    throw fail('needs_terminal', { what: 'Nobody can edit here.' }, { fix: '--edit JSON, or --edit @FILE' })
  return await io.prompts.edit(`${JSON.stringify(args, null, 2)}\n`, signal)
}

/** The acknowledgement that a policy requires: `--ack`, or the person types the key fact. */
async function acknowledgement({ given, mode, io, signal }: CommandContext, task: ShownTask): Promise<boolean> {
  if (given.flag('ack')) return true
  if (task.comprehensionRequired !== true) return false
  if (!mode.interactive)
    throw usageFailure('The policy asks the approver to confirm that the arguments were understood.', '--ack')
  if (await askAcknowledgement(task.arguments, io.prompts, signal)) return true
  throw usageFailure('That is not what the call says; nothing was approved.')
}
