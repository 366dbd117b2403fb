/**
 * Notices as an Adaptive Card. Texts of others stand in text runs, which are shown as they are: those of text blocks and facts would be
 * read as Markdown. Source: docs/design/notifications.md#teams
 */
import { toIsoText } from '../../../base/clock.ts'
import { shortenText } from '../../../base/text/cut-text.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { JsonObject } from '../../../base/json/json.ts'
import type { ChannelConfig } from '../../../spec/project/config.ts'
import type { ShownTask } from '../../../spec/task.ts'
import type { NoticeDesk, NoticeMessage } from '../channel.ts'
import { NOTICE_TITLES } from '../mail-text.ts'
import { describeTaskInChat, writeChatCard, type ChatPart, type ChatValue } from './chat-card.ts'

const MOST_OF_TITLE = 300
const MOST_OF_LINE = 200

export async function drawTeamsCard(
  messages: readonly NoticeMessage[],
  { content: mayShow = false }: ChannelConfig,
  desk: NoticeDesk,
): Promise<JsonObject> {
  const tasks = new Map<NoticeMessage, ShownTask>()
  for (const message of messages) {
    const { taskId } = message.notice
    const task = taskId === null ? undefined : await desk.readTask(taskId)
    if (task) tasks.set(message, task)
  }
  const [first] = messages as [NoticeMessage]
  const only = messages.length === 1 ? tasks.get(first) : undefined
  if (only) return drawTask(first, only, mayShow)
  if (messages.length === 1) return toCard(titleOf(first), [runsBlock(drawData(first))], first.link)
  const lines = messages.flatMap((message, at) => {
    const task = tasks.get(message)
    const text = task ? `${titleOf(message, false)}: ${describeTaskInChat(task, mayShow)}` : titleOf(message)
    return [...(at > 0 ? [run('\n')] : []), run(`• ${shortenText(text, MOST_OF_LINE)}`)]
  })
  return toCard(`${messages.length} notices`, [runsBlock(lines)], first.link)
}

function drawTask({ notice, link }: NoticeMessage, task: ShownTask, mayShow: boolean): JsonObject {
  const { title, parts } = writeChatCard(task, mayShow)
  const body: JsonObject[] = []
  for (const part of parts) {
    if (!('values' in part)) {
      body.push(runsBlock(drawPart(part)))
      continue
    }
    if (part.label !== 'with') body.push(runsBlock([run(part.label, { weight: 'Bolder' })]))
    // A container of its own, so that no value looks like a part of the card.
    body.push({ type: 'Container', style: 'emphasis', items: part.values.map((each) => runsBlock(drawValue(each))) })
  }
  // A reminder says that it is one.
  const isReminder = notice.event === 'task.expiring'
  return toCard(isReminder ? `${NOTICE_TITLES[notice.event]} · ${title}` : title, body, link)
}

function drawPart(part: Exclude<ChatPart, { readonly values: readonly ChatValue[] }>): JsonObject[] {
  const text =
    'at' in part ? [toIsoText(part.at), ...(part.text === undefined ? [] : [part.text])].join(', ') : part.text
  return [run(`${part.label} `, { weight: 'Bolder' }), run(text)]
}

const drawValue = ({ name, text, limit }: ChatValue): JsonObject[] => [
  ...(name === '' ? [] : [run(`${name}: `, { weight: 'Bolder' })]),
  run(text),
  ...(limit === undefined ? [] : [run(`  (${limit})`, { italic: true })]),
]

const drawData = ({ notice }: NoticeMessage): JsonObject[] =>
  [['when', toIsoText(notice.at)] as const, ...Object.entries(notice.data)].flatMap(([name, value], at) => {
    const text = safeText(typeof value === 'string' ? value : JSON.stringify(value))
    return [...(at > 0 ? [run('\n')] : []), run(`${name} `, { weight: 'Bolder' }), run(shortenText(text, MOST_OF_LINE))]
  })

function titleOf({ notice: { event, data } }: NoticeMessage, withSubject = true): string {
  const about = data['tool'] ?? data['agent']
  return withSubject && typeof about === 'string'
    ? `${NOTICE_TITLES[event]} · ${safeText(about)}`
    : NOTICE_TITLES[event]
}

const run = (text: string, style: JsonObject = {}): JsonObject => ({
  type: 'TextRun',
  text: text === '' ? ' ' : text,
  ...style,
})

const runsBlock = (inlines: readonly JsonObject[]): JsonObject => ({ type: 'RichTextBlock', inlines: [...inlines] })

const toCard = (title: string, body: readonly JsonObject[], link: string | undefined): JsonObject => ({
  $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
  type: 'AdaptiveCard',
  version: '1.4',
  body: [
    runsBlock([run(shortenText(title, MOST_OF_TITLE), { size: 'Large', weight: 'Bolder' })]),
    ...body,
    runsBlock([
      run('To decide, sign in to the console: a click in Teams proves nobody.', { isSubtle: true, size: 'Small' }),
    ]),
  ],
  ...(link !== undefined && { actions: [{ type: 'Action.OpenUrl', title: 'Open in the console', url: link }] }),
})
