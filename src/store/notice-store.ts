/** The outbox of notices. Its rows are written by the transactions of the changes that they tell of. */
import type { Instant } from '../base/clock.ts'
import type { TaskId, WorkspaceId } from '../base/ids.ts'
import type { NewNotice, NoticeOutcome, NoticeState, StoredNotice } from '../spec/notice.ts'
import type { PageRange } from './queries.ts'

export interface NoticeClaim {
  readonly workspaceId: WorkspaceId
  readonly channel: string
  readonly now: Instant
  /** Another process may take them from then on. */
  readonly until: Instant
  readonly limit: number
}

export interface NoticeFilter {
  readonly workspaceId: WorkspaceId
  readonly id?: string
  readonly state?: NoticeState
  readonly channel?: string
}

export interface NoticeStore {
  /** Of notices that are stored already, the first ones stay. */
  addNotices(notices: readonly NewNotice[]): Promise<void>
  /** Takes the notices of a channel that are due, the oldest first. */
  claimNotices(claim: NoticeClaim): Promise<readonly StoredNotice[]>
  /** Records the outcome of a try. Once another process has taken the notice, only a delivery counts. */
  endNotice(outcome: NoticeOutcome, now: Instant): Promise<void>
  /** Makes an ended notice due again, with all its tries; false where there is none with this id. */
  retryNotice(workspaceId: WorkspaceId, id: string, now: Instant): Promise<boolean>
  /** Newest first. */
  notices(
    filter: NoticeFilter,
    page: PageRange,
  ): Promise<{ readonly items: readonly StoredNotice[]; readonly total: number }>
  /** Who was told of a task, in order; at most 100. */
  noticesOfTask(taskId: TaskId): Promise<readonly StoredNotice[]>
  /** Deletes notices that ended before an instant; resolves with their number, at most `limit`. */
  deleteNotices(before: Instant, limit: number): Promise<number>
}
