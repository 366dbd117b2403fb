/** What the card shows below its keys on request: similar decisions, and what a probe found. */
import { isFailure } from '../../../base/failure.ts'
import { safeText } from '../../../base/escape-text.ts'
import type { ShownTask } from '../../../spec/task.ts'
import { describeDecided } from '../../../view/task-people.ts'
import { describeSubject } from '../../../view/task-subject.ts'
import { readInboxItem } from '../../../view/task-content.ts'
import { wrapMessage } from '../../../terminal/message.ts'
import { wrapText } from '../../../terminal/text.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { OperatorClient } from '../../project/server/operator.ts'
import { RemoteError } from '../../shell/remote.ts'
import { drawProbe } from '../task-channel.ts'
import type { CardSurface } from './card-surface.ts'
import type { TaskPromptContext } from './open-decision.ts'

/** Most decisions of the past that are shown on the card. */
const SHOWN_HISTORY = 5

/** What people decided about the same tool before. */
export async function describeHistory(
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
export async function describeProbe(
  operator: OperatorClient | undefined,
  { id }: ShownTask,
): Promise<readonly string[]> {
  if (!operator) return []
  try {
    return drawProbe(await operator.call('POST /tasks/:id/probe', { id, body: undefined }))
  } catch (error) {
    if (isFailure(error) || error instanceof RemoteError) return [safeText(error.message)]
    throw error
  }
}
