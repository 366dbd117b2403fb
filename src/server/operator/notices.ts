/** The outbox as operators see it. Source: docs/design/notifications.md#what-is-seen-of-it */
import { setTimeout as wait } from 'node:timers/promises'
import { isoOrNull, toIsoText } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { isUuid, type TaskId } from '../../base/ids.ts'
import type { NoticeView } from '../../operations/notices.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { StoredNotice } from '../../spec/notice.ts'
import { timeoutOfChannel } from '../notify/channels.ts'
import type { ServerServices } from '../runtime/services.ts'
import { notFoundFailure } from './find/find.ts'
import type { OperatorAction } from './people/act.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'
import { ownMember } from '../../base/json/own-member.ts'

const DEFAULT_TAKE = 100
/** Between two looks whether a test has its outcome. */
const LOOK_EVERY_MS = 100
/** For the delivery to take the notice, beyond the time of a try. */
const TAKEN_WITHIN_MS = 3000

export const listNotices: OperatorAction<'GET /notices'> = async ({ services, query }) => {
  const { store, workspace } = services
  const { skip = 0, take = DEFAULT_TAKE, id, state, channel, task } = query
  if (task !== undefined) {
    const found = isUuid(task) ? await store.noticesOfTask(task.toLowerCase() as TaskId) : []
    const items = found.filter(({ workspaceId }) => workspaceId === workspace.id)
    return { items: items.map(toNoticeView), total: items.length }
  }
  const filter = {
    workspaceId: workspace.id,
    ...(id !== undefined && { id }),
    ...(state !== undefined && { state }),
    ...(channel !== undefined && { channel }),
  }
  const { items, total } = await store.notices(filter, { skip, take })
  return { items: items.map(toNoticeView), total }
}

/** @throws Failure `not_found`, `notice_waits`, `channel_not_configured` */
export const retryNotice: OperatorAction<'POST /notices/:id/retry'> = async ({ services, operator, id, act }) => {
  const { store, workspace, clock, log, serverState } = services
  const found = await readNotice(services, id)
  if (!found) throw notFoundFailure('notice')
  findChannel(services, found.channel)
  const retried = act('notice.retried', { subject: `notice ${id} to ${found.channel}` })
  if (!(await store.recording(retried).retryNotice(workspace.id, id, clock.now()))) throw fail('notice_waits')
  serverState.onNoticesAdded?.()
  log.write('info', 'A notice is sent again.', { notice: id, channel: found.channel, by: approverOf(operator) })
  return toNoticeView((await readNotice(services, id)) ?? found)
}

/** @throws Failure `channel_not_configured` */
export const testChannel: OperatorAction<'POST /notices/test'> = async ({ services, body, operator, act }) => {
  const { store, workspace, clock, ids, serverState } = services
  const config = findChannel(services, body.channel)
  const at = clock.now()
  const id = ids.next<string>()
  await store.recording(act('channel.tested', { subject: `channel ${body.channel}` })).addNotices([
    {
      id,
      workspaceId: workspace.id,
      channel: body.channel,
      event: 'notify.test',
      at,
      dueAt: at,
      data: { by: approverOf(operator) },
      sessionId: null,
      runId: null,
      taskId: null,
      whilePending: false,
    },
  ])
  serverState.onNoticesAdded?.()
  const until = clock.monotonic() + timeoutOfChannel(config) + TAKEN_WITHIN_MS
  let notice = expectDefined(await readNotice(services, id), 'the notice was added here')
  // Where no server delivers, nobody will answer.
  while (serverState.onNoticesAdded && notice.attempts === 0 && clock.monotonic() < until) {
    await wait(LOOK_EVERY_MS)
    notice = (await readNotice(services, id)) ?? notice
  }
  return toNoticeView(notice)
}

const readNotice = async ({ store, workspace }: ServerServices, id: string): Promise<StoredNotice | undefined> =>
  (await store.notices({ workspaceId: workspace.id, id }, { skip: 0, take: 1 })).items[0]

function findChannel({ config }: ServerServices, name: string) {
  const channels = config.notify?.channels ?? {}
  const found = ownMember(channels, name)
  if (found) return found
  throw fail('channel_not_configured', { name, known: Object.keys(channels).join(', ') || 'none' })
}

const toNoticeView = (notice: StoredNotice): NoticeView => ({
  noticeId: notice.id,
  channel: notice.channel,
  event: notice.event,
  state: notice.state,
  at: toIsoText(notice.at),
  dueAt: toIsoText(notice.dueAt),
  endedAt: isoOrNull(notice.endedAt),
  attempts: notice.attempts,
  error: notice.error,
  runId: notice.runId,
  userTaskId: notice.taskId,
  data: notice.data,
})
