/** The card of a task with the keys that a terminal offers; a browser has buttons of its own. Source: docs/design/approvals.md#the-card */
import type { Instant } from '../../base/clock.ts'
import type { ShownTask } from '../../spec/task.ts'
import { presentTask, type TaskCard } from './task-card.ts'

export interface KeyedCard extends TaskCard {
  /** The actions of a person, in order. None is a default. */
  readonly actions: readonly CardAction[]
}

/**
 * @property key one character; also the first of `label`
 * @property decides it answers the task, or begins to; others only show something, or leave
 */
export interface CardAction {
  readonly key: string
  readonly label: string
  readonly decides?: true
}

export const presentKeyedTask = (task: ShownTask, now: Instant): KeyedCard => ({
  ...presentTask(task, now),
  actions: actionsOf(task),
})

const DECIDE: readonly CardAction[] = [
  { key: 'a', label: 'approve', decides: true },
  { key: 'r', label: 'reject', decides: true },
]
const LOOK: readonly CardAction[] = [
  { key: 'c', label: 'conversation' },
  { key: 'l', label: 'later' },
]
const VIEW: CardAction = { key: 'v', label: 'view whole' }
const WHY: CardAction = { key: 'w', label: 'why' }
const EDIT: CardAction = { key: 'e', label: 'edit arguments', decides: true }
const HISTORY: CardAction = { key: 'h', label: 'history' }
const POLICY: CardAction = { key: 'W', label: 'Write a policy' }
const PROBE: CardAction = { key: 'p', label: 'probe' }
const REFUSE: readonly CardAction[] = [
  { key: 'd', label: 'decline', decides: true },
  { key: 'x', label: 'close without an answer', decides: true },
]
const TYPE: CardAction = { key: 't', label: 'type the answer', decides: true }

function actionsOf({
  kind,
  options = [],
  context,
  onModify,
  people,
  tool,
  question,
}: ShownTask): readonly CardAction[] {
  const isClosed = people?.decided !== undefined
  const mayAnswer = !isClosed && (people?.standing ?? 'may_answer') === 'may_answer'
  // A voter may still change the arguments, which voids all votes.
  const mayEdit = mayAnswer || (!isClosed && people?.standing === 'voted')
  const choices = mayAnswer
    ? options.map((_, at): CardAction => ({ key: `${at + 1}`, label: `${at + 1}`, decides: true }))
    : []
  const decide = mayAnswer ? DECIDE : []
  // Decisions of the past are known to operators alone.
  const past = people && tool ? [HISTORY, ...(kind === 'approval' ? [POLICY] : [])] : []
  switch (kind) {
    case 'approval':
      return [...decide, ...(onModify === 'reject' || !mayEdit ? [] : [EDIT]), VIEW, WHY, ...past, ...LOOK]
    case 'escalation':
      return [...decide, VIEW, WHY, ...past, ...LOOK]
    case 'anomaly_review':
      return [...choices, ...(context?.['probe'] === undefined ? [] : [PROBE]), VIEW, ...past, ...LOOK]
    default:
      return [...nameAnswers(choices, mayAnswer), ...(question && mayAnswer ? REFUSE : []), ...LOOK]
  }
}

/** A digit for each option, where digits are enough. */
function nameAnswers(choices: readonly CardAction[], mayAnswer: boolean): readonly CardAction[] {
  if (choices.length > 0 && choices.length <= 9) return choices
  return mayAnswer ? [TYPE] : []
}
