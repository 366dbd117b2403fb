/** The outbox: notices for channels, their tries and their ends. */
import type { NewNotice, StoredNotice } from '../../spec/notice.ts'
import type { Dialect } from '../dialect.ts'
import { joinClauses } from '../rows/filter.ts'
import { readRows, writeRows, type DatabaseWork, type NounWork, readOneRow } from '../statement.ts'
import { defineTable } from './record-table.ts'

export const NOTICES = defineTable<StoredNotice>('notice', {
  id: 'text',
  workspaceId: 'text',
  channel: 'text',
  event: 'text',
  at: 'integer',
  dueAt: 'integer',
  data: 'json',
  sessionId: 'uuid',
  runId: 'uuid',
  taskId: 'uuid',
  whilePending: 'boolean',
  state: 'text',
  attempts: 'integer',
  claims: 'integer',
  endedAt: 'integer',
  error: 'text',
  receipt: 'json',
})

/**
 * A channel is told once of a thing: a notice that is stored already stays as it is. Few values are bound, since saves wait for it;
 * a flag is bound as a number, which both databases compare.
 */
const ADD = `insert into notice (
    id, workspace_id, channel, event, at, due_at, data, session_id, run_id, task_id, while_pending, state, attempts, claims
  )
  values (
    :id, :workspaceId, :channel, :event, :at, :dueAt, :data, :sessionId, :runId, :taskId, :flag = 1, 'waiting', 0, 0
  )
  on conflict (id) do nothing`

const MOST_OF_TASK = 100

const toStored = (notice: NewNotice): StoredNotice => ({
  ...notice,
  state: 'waiting',
  attempts: 0,
  claims: 0,
  endedAt: null,
  error: null,
  receipt: null,
})

export const toNoticeColumns = (notice: NewNotice) => NOTICES.toRow(toStored(notice))

/** Inside the transaction of the change that they tell of. */
export function* insertNotices(notices: readonly NewNotice[]): DatabaseWork<void> {
  for (const notice of notices) {
    const { id, workspaceId, channel, event, at, dueAt, sessionId, runId, taskId } = notice
    const [data, flag] = [JSON.stringify(notice.data), Number(notice.whilePending)]
    yield* writeRows(ADD, { id, workspaceId, channel, event, at, dueAt, data, sessionId, runId, taskId, flag })
  }
}

type NoticeReads = 'notices' | 'noticesOfTask'

export function prepareNotices({
  forUpdate,
  insertionOrder,
}: Dialect): NounWork<NoticeReads, 'claimNotices' | 'endNotice' | 'retryNotice' | 'deleteNotices', 'addNotices'> {
  const { select, toRecord } = NOTICES
  const returned = select.slice('select '.length, select.lastIndexOf(' from '))
  // Rows that another process is taking are left to it.
  const skipTaken = forUpdate && `${forUpdate} skip locked`
  const claim = `update notice set due_at = :until, claims = claims + 1
    where id in (
      select id from notice
      where workspace_id = :workspaceId and channel = :channel and state = 'waiting' and due_at <= :now
      order by due_at
      limit :limit
      ${skipTaken}
    )
    returning ${returned}`
  const end = `update notice
    set state = :state, due_at = :dueAt, error = :error, attempts = attempts + :counted, ended_at = :endedAt,
      receipt = coalesce(:receipt, receipt)
    where id = :id and state = 'waiting' and (claims = :claims or :state = 'delivered')`
  const retry = `update notice set state = 'waiting', due_at = :now, attempts = 0, ended_at = null
    where id = :id and workspace_id = :workspaceId and state <> 'waiting'`
  const ofTask = `${select} where task_id = :taskId order by at, channel, event limit ${MOST_OF_TASK}`
  const remove = `delete from notice
    where id in (select id from notice where ended_at < :before order by ended_at limit :limit)`

  return {
    reads: {
      *notices({ workspaceId, id, state, channel }, { skip, take }) {
        const { where, values } = joinClauses([
          ['workspace_id = :workspaceId', workspaceId],
          ['id = :id', id],
          // Written out, so that the index of the dead ones is found.
          [`state = '${state}'`, state && true],
          ['channel = :channel', channel],
        ])
        const items = yield* readRows(
          `${select} where ${where} order by ${insertionOrder} desc limit :take offset :skip`,
          {
            ...values,
            take,
            skip,
          },
        )
        const counted = yield* readOneRow<{ total: number }>(
          `select count(*) as total from notice where ${where}`,
          values,
        )
        return { items: items.map(toRecord), total: counted.total }
      },
      *noticesOfTask(taskId) {
        return (yield* readRows(ofTask, { taskId })).map(toRecord)
      },
    },
    writes: {
      *claimNotices(given) {
        return (yield* readRows(claim, { ...given })).map(toRecord)
      },
      *endNotice({ id, claims, state, dueAt, error, isCounted, receipt: given }, now) {
        const endedAt = state === 'waiting' ? null : now
        const receipt = given === undefined ? null : JSON.stringify(given)
        yield* writeRows(end, { id, claims, state, dueAt, error, counted: isCounted ? 1 : 0, endedAt, receipt })
      },
      *retryNotice(workspaceId, id, now) {
        return (yield* writeRows(retry, { workspaceId, id, now })) > 0
      },
      deleteNotices: (before, limit) => writeRows(remove, { before, limit }),
    },
    transactions: {
      addNotices: insertNotices,
    },
  }
}
