import type { Database } from 'better-sqlite3'
import type { TaskVote } from '../../spec/task.ts'
import { toColumnText } from '../rows/json-column.ts'

/** Votes are rows with a unique constraint, so that an approver counts once even if a writer errs. */
export function openVotes(db: Database) {
  const current = db.prepare<[number], VoteRow>(
    'select n, approver, approved, at, comment from vote where task_n = ? and voided = 0',
  )
  const insert = db.prepare(
    'insert into vote (task_n, approver, approved, at, comment) values (:taskN, :approver, :approved, :at, :comment)',
  )
  const voidOne = db.prepare<[number]>('update vote set voided = 1 where n = ?')
  return {
    /** Makes `votes` the ones that count: voids all others and inserts new ones. */
    replace(taskN: number, votes: readonly TaskVote[]): void {
      const stored = new Set<string>()
      const wanted = new Set(votes.map(toVoteKey))
      for (const row of current.all(taskN)) {
        const key = toVoteKey(toVote([row.approver, row.approved, row.at, row.comment]))
        if (wanted.has(key)) stored.add(key)
        else voidOne.run(row.n)
      }
      for (const vote of votes) {
        if (stored.has(toVoteKey(vote))) continue
        const { approver, approved, at, comment } = vote
        insert.run({ taskN, approver, approved: approved ? 1 : 0, at, comment: comment ?? null })
      }
    },
  }
}

const toVoteKey = ({ approver, approved, at, comment }: TaskVote): string =>
  toColumnText([approver, approved, at, comment ?? null])

interface VoteRow {
  n: number
  approver: string
  approved: number
  at: number
  comment: string | null
}

type VoteColumns = readonly [approver: string, approved: number, at: number, comment: string | null]

const toVote = ([approver, approved, at, comment]: VoteColumns): TaskVote => ({
  approver,
  approved: approved === 1,
  at,
  ...(comment !== null && { comment }),
})
