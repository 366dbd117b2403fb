/** The keys of the card: draws it, reads one key, and does what the key says. */
import { CANCELS_QUESTION } from '../../../spec/server-question.ts'
import type { ShownTask } from '../../../spec/task.ts'
import { presentKeyedTask } from '../../../view/task/task-actions.ts'
import { describeUnread, mustBeOpened } from '../../../view/task/card-reading.ts'
import { describeTaskView } from '../../../view/task/task-view.ts'
import { drawWholeApproval, fitApproval } from '../../../terminal/approval.ts'
import { drawTimeline } from '../../../terminal/timeline.ts'
import { unlessLeft } from '../../shell/io.ts'
import { describeSeen } from '../../shell/screen/view-lines.ts'
import { withKeyNames } from '../key-names.ts'
import { explainTask } from '../why.ts'
import { askApproval, askEdit, askOutcome, askValue } from './ask-answer.ts'
import { awaitReading, readOfferedKey } from './await-reading.ts'
import { again, type OpenDecision, type PromptAnswer, type TaskPromptContext } from './open-decision.ts'
import { writePolicy } from './write-policy.ts'
import { isFailure } from '../../../base/failure.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { describeDecided } from '../../../view/task/task-people.ts'
import { describeSubject } from '../../../view/task/task-subject.ts'
import { readInboxItem } from '../../../view/task/task-content.ts'
import { wrapMessage } from '../../../terminal/message.ts'
import { wrapText } from '../../../terminal/text.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { RemoteError } from '../../../client/remote-error.ts'
import { drawProbe } from '../task-channel.ts'
import type { CardSurface } from './card-surface.ts'

/** Keys that show more of the card. */
const LOOKING = ['v', 'w', 'h', 'c', 'p']

/** Shows the card, and reads one key or a question's answer. */
export async function readCardKey(decision: OpenDecision, task: ShownTask): Promise<PromptAnswer> {
  const { session, surface, signal } = decision
  const { call } = session
  const card = presentKeyedTask(task, call.io.clock.now())
  const draw = (isEarly: boolean) =>
    fitApproval(surface.canvas, card, surface.rows, { isEarly, ...(decision.panel && { below: decision.panel.lines }) })
  const deciding = card.actions.filter(({ decides }) => decides).map((each) => each.key)
  const content = JSON.stringify(describeTaskView(task))
  const looking = await awaitReading(decision, content, deciding, LOOKING, () => surface.show(draw(true).lines))
  const drawn = draw(false)
  surface.show(drawn.lines)
  const offered = card.actions.map((each) => each.key)
  const isLooking = looking !== undefined && offered.includes(looking)
  const key = isLooking ? looking : await readOfferedKey(decision, offered, deciding)
  if (key === undefined) return 'again'
  const isToggled = decision.panel?.key === key
  if (decision.panel?.key === '') decision.panel = undefined
  const panel = async (lines: () => Promise<readonly string[]> | readonly string[]): Promise<'again'> => {
    decision.panel = isToggled ? undefined : { key, lines: await lines() }
    return 'again'
  }
  const viewed = decision.viewed?.content === content ? decision.viewed : undefined
  const unopened = mustBeOpened(card, task) && (!viewed || viewed.seen < viewed.total) ? drawn.folded : 0
  if (unopened > 0 && (key === 'a' || key === 'e')) {
    const unread = describeUnread(viewed ? { folded: 0, opened: unopened } : { folded: unopened, opened: 0 })
    return again(
      decision,
      `Not approved. ${unread} ${viewed ? `${describeSeen(viewed)}; v continues there.` : 'Press v.'}`,
    )
  }
  switch (key) {
    case 'a':
      return await askApproval(decision, task)
    case 'r': {
      const reason = (await unlessLeft(surface.text('Reason (Escape: back):', signal)))?.trim()
      if (reason === undefined) return 'again'
      return { approved: false, ...(reason !== '' && { comment: reason }) }
    }
    case 'd':
      return { approved: false }
    case 'x':
      return { approved: false, metadata: { [CANCELS_QUESTION]: true } }
    case 'e':
      return await askEdit(decision, task)
    case 't':
      return await askValue(decision, task)
    case 'v':
      const seen = await surface.view((canvas) => drawWholeApproval(canvas, card, task.id), signal, viewed)
      decision.viewed = { ...seen, content }
      decision.panel = undefined
      return seen.seen < seen.total ? again(decision, `${describeSeen(seen)}; v continues there.`) : 'again'
    case 'w':
      return await panel(() => explainTask({ ...surface.canvas, width: surface.canvas.width - 2 }, task))
    case 'h':
      return await panel(() => describeHistory(session, surface, task))
    case 'W':
      return await writePolicy(decision, task)
    case 'c': {
      const { items, runs } = await session.client.getConversation(decision.runId)
      const named = await withKeyNames(items, session.operator)
      await surface.view((canvas) => drawTimeline(canvas, named, runs), signal)
      return 'again'
    }
    case 'p':
      return await panel(() => describeProbe(session.operator, task))
    case 'l':
      return session.whyNow === undefined ? 'later' : again(decision, session.whyNow)
    default: {
      const option = task.options?.[Number(key) - 1]
      if (!option) return 'again'
      return task.kind === 'anomaly_review'
        ? await askOutcome(decision, task, option.id)
        : { selectedOptionId: option.id }
    }
  }
}

/** Most decisions of the past that are shown on the card. */
const SHOWN_HISTORY = 5

/** What people decided about the same tool before. */
async function describeHistory(
  { call, operator }: TaskPromptContext,
  { canvas: { theme, width } }: CardSurface,
  task: ShownTask,
): Promise<readonly string[]> {
  if (!operator) return []
  const { items, total } = await operator.call('GET /tasks/:id/similar', { id: task.id })
  if (items.length === 0) return [theme.dim('No decision about this tool is recorded.')]
  const now = call.io.clock.now()
  const counts = new Map<string, number>()
  const closed = items.flatMap((item) => (item.people?.decided ? [{ item, decided: item.people.decided }] : []))
  for (const { decided } of closed) counts.set(decided.outcome, (counts.get(decided.outcome) ?? 0) + 1)
  const summary = [...counts].map(([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`).join(', ')
  const lines = closed.slice(0, SHOWN_HISTORY).map(({ item, decided }) => {
    const when = formatRelative(Date.parse(decided.at), now)
    return { text: `${when}  ${describeSubject(readInboxItem(item))}  ${safeText(describeDecided(decided))}`, decided }
  })
  const about = `Decided before about ${safeText(task.tool?.ref ?? '')}: ${total} (${summary})`
  return [
    ...wrapText(about, width - 2).map(theme.strong),
    ...lines.flatMap(({ text, decided }) =>
      wrapMessage(text, width - 2)
        .split('\n')
        .map(decided.outcome === 'approved' ? theme.ok : theme.bad),
    ),
  ]
}

/** Result of the probe tool that the author named, or the reason why it cannot be called. */
async function describeProbe(operator: OperatorClient | undefined, { id }: ShownTask): Promise<readonly string[]> {
  if (!operator) return []
  try {
    return drawProbe(await operator.call('POST /tasks/:id/probe', { id, body: undefined }))
  } catch (error) {
    if (isFailure(error) || error instanceof RemoteError) return [safeText(error.message)]
    throw error
  }
}
