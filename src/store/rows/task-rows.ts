/** Rows of tasks and votes. */
import type { TaskVote } from '../../spec/task.ts'

export const toVoteKey = ({ approver, approved, at, comment }: TaskVote): string =>
  JSON.stringify([approver, approved, at, comment ?? null])

export interface VoteRow {
  n: number
  approver: string
  approved: number
  at: number
  comment: string | null
}

export const toVote = (row: VoteRow): TaskVote => ({
  approver: row.approver,
  approved: row.approved === 1,
  at: row.at,
  ...(row.comment === null ? {} : { comment: row.comment }),
})
