/**
 * What a message in a chat says of a task, without layout: the card's words, what is shown to nobody else left out. Texts are escaped
 * and bounded; whoever draws it has to draw them as text and as nothing else. Source: docs/design/notifications.md#chats
 */
import type { Instant } from '../../../base/clock.ts'
import { cutText } from '../../../base/text/cut-text.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { ShownTask, TaskPeople } from '../../../spec/task.ts'
import { describeDecided, describeMissing } from '../../../view/task/task-people.ts'
import { describeSubject, nameOfKind } from '../../../view/task/task-subject.ts'
import { presentTask } from '../../../view/task/task-card.ts'
import type { CardValue } from '../../../view/task/card-values.ts'

export interface ChatCard {
  readonly title: string
  readonly parts: readonly ChatPart[]
  /** False where a text was shortened or left out: nobody can have read it whole. */
  readonly isWhole: boolean
}

export type ChatPart =
  | { readonly label: string; readonly text: string }
  | { readonly label: string; readonly at: Instant; readonly text?: string }
  /** To be fenced: a name or a value of these can be any text, also one that looks like a part. */
  | { readonly label: string; readonly values: readonly ChatValue[] }

export interface ChatValue {
  readonly name: string
  readonly text: string
  /** What stopped the call, and its place in the documents. */
  readonly limit?: string
}

const MOST_OF_VALUE = 300
const MOST_OF_TEXT = 600
const MOST_VALUES = 20
/** Below what a section of Slack may have, with its labels. */
const MOST_OF_CARD = 2600

/** What tells one reader only, or what a card may show in part. */
const LEFT_OUT: ReadonlySet<string> = new Set(['you', 'told', 'looking', 'says', 'checked', 'read', 'decided'])

/** @param mayShow texts, arguments and names of people; kinds, names of tools and roles alone otherwise */
export function writeChatCard(task: ShownTask, mayShow: boolean): ChatCard {
  const card = presentTask(task, 0)
  const decided = decisionOf(task)
  const isDecidedByOne = (task.approvalsRequired ?? 1) === 1
  const size = createMeter()
  const parts: ChatPart[] = []
  const add = (label: string, text: string): void => {
    if (text !== '') parts.push({ label, text: size.take(text.replaceAll('\n', ' ↵ '), MOST_OF_TEXT) })
  }
  if (decided) add('decided', mayShow ? safeText(describeDecided(decided)) : outcomeOf(decided.outcome))
  if (decided && decided.at !== '') parts.push({ label: 'at', at: Date.parse(decided.at) })
  if (mayShow)
    for (const row of card.rows) {
      if (LEFT_OUT.has(row.label) || (row.label === 'votes' && (decided || isDecidedByOne))) continue
      if ('text' in row) add(row.label, row.place === undefined ? row.text : `${row.text} (${row.place})`)
      else parts.push({ label: row.label, values: size.takeValues(row.values) })
    }
  else {
    add('asks', safeText(task.agent))
    if ((task.approvalsRequired ?? 1) > 1) add('votes', `${task.approvalsReceived} of ${task.approvalsRequired}`)
    if (task.people?.role !== undefined) add('needs', safeText(`the role ${task.people.role}`))
  }
  if (card.sideEffect !== undefined) add('effect', card.sideEffect)
  if (!decided && mayShow && isDecidedByOne)
    add('needs', safeText((describeMissing(task) ?? '').replace(/^waits for /, '')))
  if (!decided && task.expiresAt !== undefined)
    parts.push({
      label: 'deadline',
      at: task.expiresAt,
      ...(task.onTimeout !== undefined && { text: safeText(`then ${task.onTimeout}`) }),
    })
  return {
    title: decided ? `${outcomeOf(decided.outcome)} · ${nameOfTask(task)}` : card.title,
    parts,
    isWhole: mayShow && size.isWhole(),
  }
}

const decisionOf = ({ status, people }: ShownTask): TaskPeople['decided'] =>
  status === 'pending' ? undefined : (people?.decided ?? { by: 'nobody', outcome: status, at: '' })

/** One line of a list of tasks. */
export function describeTaskInChat(task: ShownTask, mayShow: boolean): string {
  const what = mayShow ? describeSubject(task) : nameOfTask(task)
  const { text, cut } = cutText(`${what} · ${safeText(task.agent)}`, MOST_OF_VALUE)
  const decided = decisionOf(task)
  return `${text}${cut > 0 ? '…' : ''}${decided ? ` · ${outcomeOf(decided.outcome)}` : ''}`
}

export const nameOfTask = ({ tool, kind }: ShownTask): string =>
  safeText(tool ? `${tool.ref}${tool.version && `@${tool.version}`}` : nameOfKind(kind))

const outcomeOf = (outcome: string): string =>
  safeText(outcome.replaceAll('_', ' ')).replace(/^./, (first) => first.toUpperCase())

/** Bounds the texts of one card together. */
function createMeter() {
  let left = MOST_OF_CARD
  let isWhole = true
  const take = (text: string, most: number): string => {
    const { text: kept, cut } = cutText(text, Math.min(most, Math.max(left, 0)))
    left -= kept.length
    if (cut > 0) isWhole = false
    return cut > 0 ? `${kept}…` : kept
  }
  return {
    take,
    takeValues(values: readonly CardValue[]): readonly ChatValue[] {
      if (values.length > MOST_VALUES) isWhole = false
      return values.slice(0, MOST_VALUES).map((value) => {
        const { name, limit, place } = value
        const rule = [limit, place].filter((each) => each !== undefined).join(' · ')
        return {
          name: take(name, MOST_OF_VALUE),
          text: take(describeValue(value), MOST_OF_VALUE),
          ...(rule !== '' && { limit: take(rule, MOST_OF_TEXT) }),
        }
      })
    },
    isWhole: () => isWhole,
  }
}

/** `EUR 180`: an amount with its currency first. */
function describeValue({ text, unit, value }: CardValue): string {
  if (unit === undefined) return text
  return `${unit} ${typeof value === 'string' ? text.slice(1, -1) : text}`
}
