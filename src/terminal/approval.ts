import { digestOfJson } from '../base/digest.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import type { Instant } from '../base/clock.ts'
import type { TaskContent } from '../spec/api.ts'
import type { Canvas } from './screen.ts'
import { foldText, padText, safeBlock, safeJson, safeText, widthOf, wrapText } from './text.ts'
import { formatDuration, shortDuration, shortId } from './time.ts'
import type { TextStyle } from './theme.ts'

/** Context of a card beyond the task itself. */
export interface ApprovalContext {
  readonly now: Instant
  /** `namespace.name`, with its version where that is known. */
  readonly agent: string
  readonly runId: string
}

/** A key that answers a card, and its label, with the key in brackets. */
export interface CardKey {
  readonly key: string
  readonly label: string
}

/** Most lines of one value; a longer one is cut and shown with its digest. */
const VALUE_LINES = 8

/** Longer keys stand above their value. */
const LONGEST_KEY = 16

const DECIDE: readonly CardKey[] = [
  { key: 'a', label: '[a]pprove' },
  { key: 'r', label: '[r]eject' },
]
const LOOK: readonly CardKey[] = [
  { key: 'c', label: '[c]onversation' },
  { key: 'l', label: '[l]ater' },
]
const WHY: CardKey = { key: 'w', label: '[w]hy' }

const PROBE: CardKey = { key: 'p', label: '[p]robe' }

const choicesOf = ({ options = [] }: TaskContent): readonly CardKey[] =>
  options.map((_, at) => ({ key: `${at + 1}`, label: `[${at + 1}]` }))

/** Keys that answer this task. None of them is a default. */
export function keysOf(task: TaskContent): readonly CardKey[] {
  switch (task.kind) {
    case 'approval':
      return [
        ...DECIDE,
        ...(task.on_modify === 'reject' ? [] : [{ key: 'e', label: '[e]dit arguments' }]),
        WHY,
        ...LOOK,
      ]
    case 'escalation':
      return [...DECIDE, WHY, ...LOOK]
    case 'anomaly_review':
      return [...choicesOf(task), ...(task.context?.['probe'] === undefined ? [] : [PROBE]), ...LOOK]
    default:
      if (task.options && task.options.length > 0 && task.options.length <= 9) return [...choicesOf(task), ...LOOK]
      return [{ key: 't', label: '[t]ype the answer' }, ...LOOK]
  }
}

/**
 * The card of a task: who asks, what would run, why it was stopped, until when, and which keys answer. Arguments are fenced,
 * so that they cannot imitate other lines of the card. Source: command line, 2.4 and 2.5.
 */
export function drawApproval(canvas: Canvas, task: TaskContent, asking: ApprovalContext): string[] {
  const { theme } = canvas
  const width = Math.max(30, Math.min(canvas.width, 120))
  const title = [TITLES[task.kind] ?? task.kind, task.tool?.ref, task.tool?.side_effect_class]
    .filter((each) => each != null)
    .map(safeText)
    .join(' · ')
  const deadline = deadlineOf(task, asking)
  const whole = deadline === undefined ? title : `${title} · ${deadline}`
  const fits = widthOf(whole) <= width - 2
  const rows: readonly ApprovalRow[] = [
    ...rowsOf(task, asking),
    ...(deadline === undefined || fits ? [] : [{ label: 'until', text: deadline }]),
  ]
  const keys = keysOf(task)
    .map(({ label: says }) => says)
    .join('  ')
  return [
    ...wrapText(fits ? whole : title, width - 2).map(
      (line, at) => `${theme.waiting(at === 0 ? '┌' : '│')} ${theme.strong(line)}`,
    ),
    ...rows.flatMap((row) => drawRow(canvas, row, width)),
    ...wrapText(keys, width - 2).map(
      (line, at, all) => `${theme.waiting(at === all.length - 1 ? '└' : '│')} ${theme.strong(line)}`,
    ),
  ]
}

type ApprovalRow =
  /** A paragraph of text. */
  | { readonly label: string; readonly text: string; readonly style?: 'name' | 'strong'; readonly place?: string }
  /** Values of the call, fenced. */
  | { readonly label: string; readonly values: JsonValue }

const LABEL = 9

const TITLES: Readonly<Record<string, string>> = {
  approval: 'Approval needed',
  escalation: 'Decision of an operator needed',
  multi_option: 'Choice needed',
  text: 'Answer needed',
  number: 'Number needed',
  aitl_escalation: 'An agent asks an operator',
  anomaly_review: 'Outcome unknown',
}

/** An API key as approver; shown by its last digits. */
const KEY_ID = /^key:([0-9a-f-]{36})$/

const approverOf = (by: string): string => by.replace(KEY_ID, (_, id: string) => `key ${shortId(id)}`)

const MINUTE = 60_000

function deadlineOf({ expires_at, on_timeout }: TaskContent, { now }: ApprovalContext): string | undefined {
  if (expires_at === undefined) return undefined
  const left = Date.parse(expires_at) - now
  const then = on_timeout ? ` (then ${on_timeout})` : ''
  // Rounded up, so that a fresh deadline of 30 minutes is not shown as 29.
  const shown = left > MINUTE ? Math.ceil(left / MINUTE) * MINUTE : left
  return left <= 0 ? `expired${then}` : `expires in ${shortDuration(shown)}${then}`
}

function rowsOf(task: TaskContent, { agent, runId }: ApprovalContext): ApprovalRow[] {
  const rows: ApprovalRow[] = [{ label: 'asks', text: `${agent} · run ${shortId(runId)}`, style: 'name' }]
  const policies = decisive(task.policies ?? [])
  if (task.prompt && !policies.some((policy) => isToldBy(policy, task.prompt!)))
    rows.push({ label: 'question', text: task.prompt, style: 'strong' })
  if (task.tool)
    rows.push({
      label: 'calls',
      text: `${task.tool.ref}${task.tool.version && `@${task.tool.version}`}`,
      style: 'name',
    })
  if (task.arguments !== undefined) rows.push({ label: 'with', values: task.arguments })
  const edit = task.edits?.at(-1)
  if (edit) rows.push({ label: 'edited', text: `by ${approverOf(edit.edited_by)}` })
  for (const policy of policies) rows.push(whyOf(policy))
  if (task.reason) rows.push({ label: 'reason', text: task.reason })
  if (task.authority_ref) rows.push({ label: 'authority', text: task.authority_ref })
  if (task.context && Object.keys(task.context).length > 0) rows.push({ label: 'context', values: task.context })
  for (const [at, option] of (task.options ?? []).entries())
    rows.push({ label: at === 0 ? 'options' : '', text: `${at + 1}  ${option.label}` })
  if (task.min !== undefined || task.max !== undefined)
    rows.push({ label: 'bounds', text: `${task.min ?? '−∞'} to ${task.max ?? '∞'}` })
  if (task.approvals_required !== undefined)
    rows.push({ label: 'votes', text: `${task.approvals_received ?? 0} of ${task.approvals_required}` })
  if (task.comprehension_required)
    rows.push({ label: 'read', text: 'Approving needs a confirmation that the arguments were read.' })
  return rows
}

/** The policies that stopped the call; if none did, all that matched. */
function decisive(policies: readonly JsonObject[]): readonly JsonObject[] {
  const stopping = policies.filter((each) => each['matched'] !== 'false' && each['decision'] !== 'allow')
  return stopping.length > 0 ? stopping : policies.filter((each) => each['matched'] !== 'false')
}

/** True where the question only repeats the policy and its condition, which the line `why` shows. */
function isToldBy(policy: JsonObject, question: string): boolean {
  const text = (name: string): string => (typeof policy[name] === 'string' ? policy[name] : '')
  return question === `${text('id')}@${text('version')} requires an approval: ${text('condition')}.`
}

function whyOf(policy: JsonObject): ApprovalRow {
  const text = (name: string): string => (typeof policy[name] === 'string' ? policy[name] : '')
  const unknown = policy['matched'] === 'unknown' ? ' (could not be told)' : ''
  const rule = `${text('id')}${text('version') && `@${text('version')}`}`
  const because = text('condition') || text('reason')
  return {
    label: 'why',
    text: `${rule}${because && `: ${because}`}${unknown}`,
    ...(text('source') && { place: text('source') }),
  }
}

function drawRow({ theme }: Canvas, row: ApprovalRow, width: number): string[] {
  const edge = theme.waiting('│')
  const label = (at: number): string => theme.dim(padText(at === 0 ? row.label : '', LABEL))
  const room = width - 3 - LABEL
  if ('values' in row) {
    const values = isJsonObject(row.values) ? Object.entries(row.values) : [['', row.values] as const]
    if (values.length === 0) return [`${edge} ${label(0)} ${theme.dim('no arguments')}`]
    const named = values.map(([key, value]) => [safeJson(key).slice(1, -1), value] as const)
    const longestKey = Math.min(LONGEST_KEY, Math.floor(room / 3))
    const keys = Math.max(...named.map(([key]) => widthOf(key)).filter((each) => each <= longestKey), 0)
    return named
      .flatMap(([key, value]) => drawValue(key, value, keys, room - 2))
      .map((line, at) => `${edge} ${label(at)} ${theme.dim('┆')} ${line}`)
  }
  const style: TextStyle = row.style ? theme[row.style] : (text) => text
  const lines = wrapText(safeBlock(row.text), room)
  const place = row.place && safeText(row.place)
  const last = lines.at(-1)!
  const beside = place !== undefined && widthOf(last) + 3 + widthOf(place) <= room
  return [
    ...lines.map(
      (line, at) =>
        `${edge} ${label(at)} ${style(line)}${beside && line === last && at === lines.length - 1 ? `   ${theme.dim(place)}` : ''}`,
    ),
    ...(place !== undefined && !beside
      ? wrapText(place, room).map((line) => `${edge} ${label(1)} ${theme.dim(line)}`)
      : []),
  ]
}

/** `key  value` with the value as JSON, wrapped under itself; a long key stands above its value. */
function drawValue(key: string, value: JsonValue, keys: number, room: number): string[] {
  const above = widthOf(key) > keys
  const left = key === '' ? 0 : keys + 2
  const lines = foldText(safeJson(value), Math.max(10, room - left))
  const shown = lines.slice(0, VALUE_LINES)
  if (lines.length > VALUE_LINES) {
    const hidden = lines.slice(VALUE_LINES).reduce((sum, line) => sum + line.length, 0)
    shown.push(`… ${hidden} more characters, ${digestOfJson(value).slice(0, 19)}…`)
  }
  const head = above || key === '' ? ' '.repeat(left) : padText(key, left)
  const body = shown.flatMap((line, at) =>
    wrapText(line, room - left).map((part, nth) => (at + nth === 0 ? head : ' '.repeat(left)) + part),
  )
  return above ? [...foldText(key, room), ...body] : body
}

/** The result of a decision, for example `approved by ana@acme.example after 6 s`. */
export function drawAnswered(canvas: Canvas, outcome: string, by: string | null | undefined, afterMs?: number): string {
  const style = outcome === 'approved' || outcome === 'answered' ? canvas.theme.ok : canvas.theme.bad
  const who = by ? ` by ${safeText(approverOf(by))}` : ''
  const when = afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`
  return `${style(safeText(outcome.replaceAll('_', ' ')))}${who}${when}`
}
