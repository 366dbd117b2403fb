import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { NoticeView } from '../../../operations/notices.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { formatRelative } from '../../../terminal/time.ts'
import { taskOf } from '../../project/reference.ts'
import { eachCommand, listCommand } from '../../project/request-command.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { fail } from '../../../base/failure.ts'
import type { CommandContext } from '../../shell/command.ts'
import { onlyMatch } from '../../project/only-match.ts'

const columns = (now: number): readonly TableColumn<NoticeView>[] => [
  { title: 'NOTICE', cell: ({ noticeId }) => shortId(noticeId), plain: ({ noticeId }) => noticeId },
  { title: 'CHANNEL', cell: ({ channel }) => channel },
  { title: 'EVENT', cell: ({ event }) => event },
  { title: 'STATE', cell: describeNoticeState },
  { title: 'TRIES', cell: ({ attempts }) => String(attempts), align: 'right' },
  { title: 'WHEN', cell: ({ at }) => formatRelative(Date.parse(at), now), plain: ({ at }) => at },
]

const describeNoticeState = ({ state, error }: NoticeView): string =>
  error === null || state === 'delivered' || state === 'moot' ? state : `${state}: ${safeText(error)}`

/** What the channels were told, newest first. */
export const notifyList = listCommand('GET /notices', {
  ask: (call) => async (operator) => {
    const { given } = call
    const [channel, task] = [given.text('channel'), given.text('task')]
    return {
      query: {
        ...(given.flag('dead') && { state: 'dead' as const }),
        ...(channel !== undefined && { channel }),
        ...(task !== undefined && { task: (await taskOf(task, operator)).id }),
      },
    }
  },
  columns,
  nothing: 'No channel was told anything.',
})

export const notifyRetry = eachCommand('POST /notices/:id/retry', {
  find: (texts, operator) => findNotices(texts, operator),
  ask: () => ({}),
  toItem: (answer) => answer,
  describe: ({ noticeId, channel, event }) => `sends ${event} ${shortId(noticeId)} to ${channel} again`,
  idField: 'noticeId',
})

/** Longest list in which an ending is looked for. */
const MOST_LISTED = '500'

/** Notices by their id or its end; those that are dead where none is named. */
async function findNotices(texts: readonly string[], operator: OperatorClient): Promise<readonly string[]> {
  const query = { take: MOST_LISTED, ...(texts.length === 0 && { state: 'dead' as const }) }
  const { items } = await operator.call('GET /notices', { query })
  if (texts.length === 0) return items.map(({ noticeId }) => noticeId)
  return texts.map((text) => {
    const found = items.filter(({ noticeId }) =>
      noticeId.replaceAll('-', '').endsWith(text.replaceAll('-', '').toLowerCase()),
    )
    const missing = () => fail('not_found', { what: `notice ${text}` }, { fix: 'svc notify list shows them.' })
    return onlyMatch(found, text, missing, ({ noticeId }) => noticeId).noticeId
  })
}

/** Exit code 1 where the channel did not take the test. */
export async function notifyTest(call: CommandContext<OperatorAnswer<'POST /notices/test'>>): Promise<number> {
  const { given, mode, out } = call
  const channel = given.required(0)
  const answer = await withOperator(call, (operator) => operator.call('POST /notices/test', { body: { channel } }))
  if (mode.json) await out.json(answer)
  else out.line(describeTest(answer))
  return answer.state === 'delivered' ? 0 : 1
}

function describeTest({ channel, state, error, attempts }: NoticeView): string {
  if (state === 'delivered') return `delivered to ${channel}`
  if (attempts === 0) return `not tried yet: a server that runs sends it to ${channel} (svc notify list)`
  return `${channel} did not take it: ${safeText(error ?? state)}`
}
