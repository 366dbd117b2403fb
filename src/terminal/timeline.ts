/** Steps of a run as lines: the whole conversation at once, or step by step as they happen. */
import { wrapMessage } from './message.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import type { RunSummary, TimelineItem } from '../spec/api.ts'
import { drawAnswered } from './approval.ts'
import type { Canvas } from './screen.ts'
import { safeJson, safeText } from '../base/text/escape-text.ts'
import { describeResumption } from '../view/resumption.ts'
import { describeUndoRequest } from '../view/undo.ts'
import { widthOf } from './width.ts'
import { padText, truncateText } from './text.ts'
import type { TextStyle } from './theme.ts'
import { shortDuration, shortId } from '../base/text/short-text.ts'
import { timeOfDay } from './time.ts'

/** Width of the longest type, `SessionCompleted`. */
const TYPE_WIDTH = 16

/** Below this many columns the time is left out. */
const NARROW = 60

export interface TimelineOptions {
  /** Reader's offset from UTC in minutes; absent = that of this machine. */
  readonly offsetMinutes?: number
}

/**
 * The conversation, one line per item in `ordinal` order, sub-agents indented. A result is shown on the line of its call and
 * an answer on that of its task, where both are among the items; a plain `allow` decision is left out.
 */
export function drawTimeline(
  canvas: Canvas,
  items: readonly TimelineItem[],
  runs: readonly RunSummary[],
  options: TimelineOptions = {},
): string[] {
  const depths = new Map(runs.map((run) => [run.id, run.depth]))
  const known = createIndex(items)
  const ordinals = Math.max(3, ...items.map((item) => String(item.ordinal).length))
  return items
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .filter((item) => !isShownElsewhere(item, known))
    .flatMap((item) => {
      const time = item.startedAt === null ? '' : timeOfDay(Date.parse(item.startedAt), options.offsetMinutes)
      const head = [
        padText(String(item.ordinal), ordinals, 'right'),
        ...(canvas.width < NARROW ? [] : [padText(time, 8)]),
        `${'  '.repeat(depths.get(item.runId) ?? 0)}${padText(safeText(item.type), TYPE_WIDTH)} `,
      ].join('  ')
      const shown = item.content === null ? ERASED : describeItem(canvas, item, contentOf(item), known)
      return draw(canvas, canvas.theme.dim(head), shown)
    })
}

export interface LiveTimeline {
  /** Lines of an item as it comes; none for an erased item, and none for one shown elsewhere (output, card, call in flight). */
  add(item: TimelineItem): string[]
}

/** Short lines for items as they happen. Source: docs/design/command-line.md#driving */
export function createLiveTimeline(canvas: Canvas, rootRunId?: string): LiveTimeline {
  const known = createIndex()
  return {
    add(item) {
      if (item.content === null) return []
      known.add(item)
      const content = contentOf(item)
      const drawn = describeLive(canvas, item, content, known)
      if (drawn === undefined) return []
      const inside = rootRunId !== undefined && item.runId !== rootRunId
      return draw(canvas, `  ${inside ? canvas.theme.dim('· ') : ''}${padText(drawn.label, inside ? 8 : 10)} `, drawn)
    },
  }
}

interface TimelineText {
  /** Safe text, not yet cut to the width. */
  readonly text: string
  readonly style?: TextStyle
  /** Right-aligned note, styled and safe. */
  readonly note?: string
}

/** An erased step has only its type and time. */
const ERASED: TimelineText = { text: '' }

/** Items by the call or the task they belong to. */
interface KnownItems {
  readonly calls: ReadonlyMap<string, TimelineItem>
  readonly results: ReadonlyMap<string, TimelineItem>
  readonly decisions: ReadonlyMap<string, TimelineItem>
  readonly tasks: ReadonlyMap<string, TimelineItem>
  readonly answers: ReadonlyMap<string, TimelineItem>
}

interface Index extends KnownItems {
  add(item: TimelineItem): void
}

function createIndex(items: readonly TimelineItem[] = []): Index {
  const calls = new Map<string, TimelineItem>()
  const results = new Map<string, TimelineItem>()
  const decisions = new Map<string, TimelineItem>()
  const tasks = new Map<string, TimelineItem>()
  const answers = new Map<string, TimelineItem>()
  const indexes: Readonly<Record<string, readonly [Map<string, TimelineItem>, string]>> = {
    ToolCall: [calls, 'tool_call_id'],
    SubAgentCall: [calls, 'tool_call_id'],
    ToolResult: [results, 'tool_call_id'],
    SubAgentResult: [results, 'tool_call_id'],
    PolicyDecision: [decisions, 'tool_call_id'],
    UserTaskReq: [tasks, 'user_task_id'],
    UserTaskRes: [answers, 'user_task_id'],
  }
  const add = (item: TimelineItem): void => {
    const index = indexes[item.type]
    if (index) index[0].set(keyOf(item, index[1]), item)
  }
  items.forEach(add)
  return { calls, results, decisions, tasks, answers, add }
}

/** Models choose call ids, which are unique only in their run. */
const keyOf = (item: TimelineItem, field: string): string => `${item.runId} ${textOf(contentOf(item)[field])}`

function isShownElsewhere(item: TimelineItem, known: KnownItems): boolean {
  switch (item.type) {
    case 'ToolResult':
    case 'SubAgentResult':
      return known.calls.has(keyOf(item, 'tool_call_id'))
    case 'UserTaskRes':
      return known.tasks.has(keyOf(item, 'user_task_id'))
    case 'PolicyDecision':
      return contentOf(item)['decision'] === 'allow' && known.calls.has(keyOf(item, 'tool_call_id'))
    default:
      return false
  }
}

function describeItem(canvas: Canvas, item: TimelineItem, content: JsonObject, known: KnownItems): TimelineText {
  const { theme } = canvas
  const call = keyOf(item, 'tool_call_id')
  // The result is that of the last attempt.
  const result = known.calls.get(call) === item ? known.results.get(call) : undefined
  switch (item.type) {
    case 'UserMessage':
    case 'Reasoning':
      return item.error === null ? { text: messageOf(content) } : { text: safeText(item.error), style: theme.bad }
    case 'PolicyDecision':
      return decisionOf(canvas, content)
    case 'ToolCall':
      return {
        text: result
          ? `${nameOf(content)} → ${resultOf(contentOf(result))}`
          : `${nameOf(content)} ${safeJson(content['arguments'] ?? null)}${whyUnanswered(item)}`,
        ...(isError(result ?? item) && { style: theme.bad }),
      }
    case 'SubAgentCall':
      return {
        text: `${textOf(content['agent'])} ${result ? `→ ${childResultOf(contentOf(result))}` : `${safeJson(content['input'] ?? null)}${whyUnanswered(item)}`}`,
      }
    case 'ToolResult':
      return { text: `${nameOf(content)} → ${resultOf(content)}`, ...(isError(item) && { style: theme.bad }) }
    case 'SubAgentResult':
      return { text: childResultOf(content) }
    case 'UserTaskReq': {
      const answer = known.answers.get(keyOf(item, 'user_task_id'))
      return {
        text: taskOf(content),
        note: answer ? answerOf(canvas, item, answer) : theme.waiting(textOf(content['status'])),
      }
    }
    case 'UserTaskRes':
      return { text: drawAnswered(canvas, content) }
    default:
      return otherOf(canvas, item, content)
  }
}

/** Why a call has no result: the run ended, or its outcome is unknown. */
const whyUnanswered = ({ error }: TimelineItem): string => (error === null ? '' : ` → ${safeText(error)}`)

function describeLive(
  canvas: Canvas,
  item: TimelineItem,
  content: JsonObject,
  known: KnownItems,
): (TimelineText & { readonly label: string }) | undefined {
  const { theme } = canvas
  const call = known.calls.get(keyOf(item, 'tool_call_id'))
  switch (item.type) {
    case 'Reasoning': {
      const text = messageOf(content)
      return text === '' ? undefined : { label: 'reasoning', text }
    }
    case 'UserMessage':
      // The first message is the run's input, which the user just gave.
      return item.sequence === 1 ? undefined : { label: 'message', text: messageOf(content) }
    case 'PolicyDecision':
      return content['decision'] === 'deny' ? { label: 'policy', ...decisionOf(canvas, content) } : undefined
    case 'ToolResult': {
      if (!call) return neverCalled(canvas, item, content)
      const asked = contentOf(call)
      const column: typeof padText = (text, width, align) => (canvas.isTTY ? padText(text, width, align) : text)
      const decision = known.decisions.get(keyOf(item, 'tool_call_id'))
      const took =
        typeof content['duration_ms'] === 'number' ? column(shortDuration(content['duration_ms']), 6, 'right') : ''
      const outcome = decision ? textOf(contentOf(decision)['decision']) : ''
      const failed = isError(item)
      return {
        label: 'tool',
        text: `${nameOf(asked)} ${safeJson(asked['arguments'] ?? null)}${failed ? ` → ${resultOf(content)}` : ''}`,
        ...(failed && { style: theme.bad }),
        note: [
          failed
            ? theme.bad(column('error', 9))
            : theme.ok(column(outcome === 'require_approval' ? 'approved' : outcome, 9)),
          theme.dim(took),
        ].join(canvas.isTTY ? '' : '  '),
      }
    }
    case 'SubAgentCall':
      return { label: 'agent', text: `${textOf(content['agent'])} ${safeJson(content['input'] ?? null)}` }
    case 'SubAgentResult':
      return {
        label: 'agent',
        text: `${call ? `${textOf(contentOf(call)['agent'])} ` : ''}→ ${childResultOf(content)}`,
      }
    case 'UserTaskReq':
      return { label: 'task', text: taskOf(content), note: theme.waiting('needs a person') }
    case 'UserTaskRes': {
      const task = known.tasks.get(keyOf(item, 'user_task_id'))
      return { label: 'answer', text: '', note: answerOf(canvas, task, item) }
    }
    case 'AitlRequest':
      return { label: 'asks', text: textOf(content['question']) }
    case 'AitlResponse':
      return { label: 'answer', text: textOf(content['answer']) }
    case 'LimitReached':
      return { label: 'limit', ...otherOf(canvas, item, content) }
    case 'RunResumed':
      return { label: 'resumed', ...otherOf(canvas, item, content) }
    case 'UndoRequested':
      return { label: 'undo', ...otherOf(canvas, item, content) }
    case 'OutputValidation':
      return content['valid'] === true ? undefined : { label: 'output', ...otherOf(canvas, item, content) }
    default:
      return undefined
  }
}

/** Result of a call that was refused before it was sent: without arguments and duration. */
function neverCalled(
  { theme }: Canvas,
  item: TimelineItem,
  content: JsonObject,
): TimelineText & { readonly label: string } {
  const result = isJsonObject(content['result']) ? content['result'] : {}
  const failed = isError(item)
  return {
    label: 'tool',
    text: `${nameOf(content)} → ${textOf(result['message']) || resultOf(content)}`,
    ...(failed && { style: theme.bad, note: theme.bad(textOf(result['error']) || 'error') }),
  }
}

function otherOf({ theme }: Canvas, item: TimelineItem, content: JsonObject): TimelineText {
  switch (item.type) {
    case 'LimitReached':
      if (isJsonObject(content['left_out']))
        return {
          text: `${textOf(content['left_out']['messages'])} older messages ${content['action'] === 'summarise' ? 'summarised' : 'left out'}`,
          style: theme.dim,
        }
      return {
        text: `${textOf(content['limit'])}: ${textOf(content['used'])} of ${textOf(content['value'])} used, ${textOf(content['action'])}`,
        style: theme.bad,
      }
    case 'OutputValidation':
      return content['valid'] === true
        ? { text: 'valid' }
        : {
            text: `invalid, ${textOf(content['action'])}: ${safeJson(content['errors'] ?? null)}`,
            style: theme.bad,
          }
    case 'RunResumed':
      return { text: safeText(describeResumption(content)) }
    case 'UndoRequested':
      return { text: safeText(describeUndoRequest(content)) }
    case 'AitlRequest':
      return { text: textOf(content['question']) }
    case 'AitlResponse':
      return { text: textOf(content['answer']), note: theme.dim(textOf(content['answered_by'])) }
    case 'Output':
      return { text: valueOf(content['output'] ?? null) }
    case 'RunCompleted':
    case 'SessionCompleted': {
      const error = item.error ?? nullable(content['error'])
      if (error) return { text: safeText(error), style: theme.bad }
      // The line before shows the output, which is that of the root run.
      return { text: item.type === 'RunCompleted' ? valueOf(content['output'] ?? null) : '' }
    }
    default:
      return { text: item.content === null ? '' : safeJson(item.content) }
  }
}

/**
 * Text cut to the width and its note at the right edge, or under it where both do not fit; on a pipe both whole, two
 * spaces between.
 */
function draw(canvas: Canvas, head: string, { text, style, note }: TimelineText): string[] {
  const indent = widthOf(head)
  // A screen reader reads lines, however long they are.
  const room = canvas.isAccessible ? Number.POSITIVE_INFINITY : Math.max(8, canvas.width - indent)
  const applyStyle = (plain: string): string => (style && plain !== '' ? style(plain) : plain)
  if (!note) return [`${head}${applyStyle(truncateText(text, room))}`.trimEnd()]
  if (text === '') return wrapNote(note, room).map((line, at) => `${at === 0 ? head : ' '.repeat(indent)}${line}`)
  if (!Number.isFinite(room)) return [`${head}${applyStyle(text)}  ${note}`]
  const left = room - widthOf(note) - 2
  if (left < 16) {
    const beside = Math.max(4, Math.min(indent, canvas.width - widthOf(note)))
    const below = wrapNote(note, canvas.width - beside).map((line) => `${' '.repeat(beside)}${line}`)
    return [`${head}${applyStyle(truncateText(text, room))}`, ...below]
  }
  const cut = truncateText(text, left)
  return [`${head}${applyStyle(cut)}${' '.repeat(left - widthOf(cut) + 2)}${note}`]
}

const wrapNote = (note: string, width: number): string[] =>
  wrapMessage(note, width)
    .split('\n')
    .map((line) => line.trimStart())

function decisionOf({ theme }: Canvas, content: JsonObject): TimelineText {
  const decision = textOf(content['decision'])
  const undecided = decision === 'allow' ? undefined : theme.waiting
  const style = decision === 'deny' ? theme.bad : undecided
  const explanation = textOf(content['explanation'])
  return {
    text: `${decision} ${textOf(content['name'])}${explanation && `  ${explanation}`}`,
    ...(style && { style }),
  }
}

function answerOf(canvas: Canvas, task: TimelineItem | undefined, answer: TimelineItem): string {
  const content = contentOf(answer)
  const asked = task?.startedAt ?? null
  const after =
    asked === null || answer.startedAt === null ? undefined : Date.parse(answer.startedAt) - Date.parse(asked)
  return drawAnswered(canvas, content, after)
}

function taskOf(content: JsonObject): string {
  const tool = isJsonObject(content['tool']) ? textOf(content['tool']['ref']) : ''
  const args = isJsonObject(content['arguments'])
    ? Object.entries(content['arguments'])
        .map(([key, value]) => `${safeText(key)} ${safeJson(value)}`)
        .join(' ')
    : ''
  const what = tool === '' ? textOf(content['prompt']) || textOf(content['title']) : tool
  return [textOf(content['kind']), what, args].filter((each) => each !== '').join(' ')
}

const childResultOf = (content: JsonObject): string =>
  `${textOf(content['status'])} ${valueOf(content['output'] ?? null)} (${shortId(textOf(content['child_run_id']))})`

const nameOf = (content: JsonObject): string => textOf(content['ref']) || textOf(content['name'])
const resultOf = (content: JsonObject): string => valueOf(content['result'] ?? null)
/** A message in one line, without line breaks and indents. */
const messageOf = ({ text }: JsonObject): string =>
  textOf(typeof text === 'string' ? text.replaceAll(/[ \t]*\r?\n\s*/g, ' ') : text)
const valueOf = (value: JsonValue): string => (typeof value === 'string' ? safeText(value) : safeJson(value))
const isError = (item: TimelineItem): boolean => item.error !== null || contentOf(item)['is_error'] === true
const contentOf = (item: TimelineItem): JsonObject => (isJsonObject(item.content) ? item.content : {})
const nullable = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null)
/** A field as safe text for one line; everything that is drawn comes through here or through `safeJson`. */
function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return safeText(value.trim())
  return value === undefined || value === null ? '' : safeJson(value)
}
