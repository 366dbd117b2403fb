/**
 * Messages of Slack as blocks. Texts of others stand in `plain_text` and `rich_text` only, which Slack shows as they are: no mention, link,
 * emoji or format can come of them. Source: docs/design/notifications.md#slack
 */
import { toIsoText, type Instant } from '../../../base/clock.ts'
import { shortenText } from '../../../base/text/cut-text.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { ChatCard, ChatPart, ChatValue } from '../chat/chat-card.ts'
import type { NoticeMessage } from '../channel.ts'
import { NOTICE_TITLES } from '../mail-text.ts'

export interface SlackDrawing {
  /** Of the notification, and where blocks cannot be shown. */
  readonly text: string
  readonly blocks: readonly JsonObject[]
}

/** Of Slack, in characters. */
const MOST_OF_HEADER = 150
const MOST_OF_CONTEXT = 2000
const MOST_OF_FALLBACK = 300
const MOST_LINES_OF_LIST = 20
const MOST_OF_LINE = 140

export const ACTIONS = { approve: 'svc.approve', reject: 'svc.reject', open: 'svc.open' } as const

export interface TaskDrawing {
  readonly link?: string
  /** What the buttons that decide carry; absent where they decide elsewhere. */
  readonly value?: string
  /** Below the buttons. */
  readonly note?: string
}

export function drawTask({ title, parts }: ChatCard, { link, value, note }: TaskDrawing): SlackDrawing {
  const open = link === undefined ? [] : [button(ACTIONS.open, 'Open', { url: link })]
  const decide =
    value === undefined
      ? []
      : [
          button(ACTIONS.approve, 'Approve', { value, style: 'primary', confirm: confirmation(title) }),
          button(ACTIONS.reject, 'Reject…', { value, style: 'danger' }),
        ]
  return {
    text: fallbackOf(title),
    blocks: [
      header(title),
      { type: 'rich_text', elements: drawParts(parts) },
      ...(open.length + decide.length === 0 ? [] : [{ type: 'actions', elements: [...decide, ...open] }]),
      ...(note === undefined ? [] : [context(note)]),
    ],
  }
}

/** Many in one message. */
export function drawList(title: string, lines: readonly SlackLine[], link?: string): SlackDrawing {
  const shown = lines.slice(0, MOST_LINES_OF_LIST)
  const more = lines.length - shown.length
  return {
    text: fallbackOf(title),
    blocks: [
      header(title),
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_list', style: 'bullet', elements: shown.map((line) => section(drawLine(line))) }],
      },
      ...(link === undefined
        ? []
        : [{ type: 'actions', elements: [button(ACTIONS.open, 'Open the inbox', { url: link })] }]),
      ...(more === 0 ? [] : [context(`and ${more} more`)]),
    ],
  }
}

export interface SlackLine {
  readonly text: string
  readonly at?: Instant
  readonly link?: string
}

/** A notice that is about no task that waits. */
export function drawNotice({ notice, link }: NoticeMessage): SlackDrawing {
  const title = titleOfNotice({ notice })
  const values = Object.entries(notice.data).map(([name, value]) => ({ name, text: showValue(value) }))
  return {
    text: fallbackOf(title),
    blocks: [
      header(title),
      {
        type: 'rich_text',
        elements: drawParts([
          { label: 'when', at: notice.at },
          ...(values.length === 0 ? [] : [{ label: 'about', values }]),
        ]),
      },
      ...(link === undefined ? [] : [{ type: 'actions', elements: [button(ACTIONS.open, 'Open', { url: link })] }]),
    ],
  }
}

export function titleOfNotice({ notice: { event, data } }: Pick<NoticeMessage, 'notice'>): string {
  const about = data['tool'] ?? data['agent']
  return typeof about === 'string' ? `${NOTICE_TITLES[event]} · ${safeText(about)}` : NOTICE_TITLES[event]
}

/** A reply below a message, which tells its readers that something happened. */
export const drawReply = (card: ChatCard, title = card.title): SlackDrawing => ({
  text: fallbackOf(title),
  blocks: [
    {
      type: 'rich_text',
      elements: drawParts(
        card.parts.filter(({ label }) => REPLIED.has(label)),
        title,
      ),
    },
  ],
})

const REPLIED: ReadonlySet<string> = new Set(['decided', 'deadline', 'votes', 'needs'])

const showValue = (value: JsonValue): string =>
  shortenText(safeText(typeof value === 'string' ? value : JSON.stringify(value)), MOST_OF_LINE)

/** Values stand in a quote of their own, so that none looks like a part of the card. */
function drawParts(parts: readonly ChatPart[], title?: string): JsonObject[] {
  const elements: JsonObject[] = []
  let open: JsonObject[] = title === undefined ? [] : [bold(title)]
  const close = (): void => {
    if (open.length > 0) elements.push(section(open))
    open = []
  }
  const begin = (label: string): void => void open.push(...(open.length > 0 ? [plain('\n')] : []), bold(`${label} `))
  for (const part of parts) {
    if ('values' in part) {
      if (part.label !== 'with') begin(part.label)
      close()
      elements.push({ type: 'rich_text_quote', elements: part.values.flatMap(drawValue) })
      continue
    }
    begin(part.label)
    if ('at' in part) open.push(moment(part.at), ...(part.text === undefined ? [] : [plain(`, ${part.text}`)]))
    else open.push(plain(part.text))
  }
  close()
  return elements
}

const drawValue = ({ name, text, limit }: ChatValue, at: number): JsonObject[] => [
  ...(at > 0 ? [plain('\n')] : []),
  ...(name === '' ? [] : [bold(`${name}: `)]),
  plain(text),
  ...(limit === undefined ? [] : [{ type: 'text', text: `  (${limit})`, style: { italic: true } }]),
]

const drawLine = ({ text, at, link }: SlackLine): JsonObject[] => [
  plain(shortenText(text, MOST_OF_LINE)),
  ...(at === undefined ? [] : [plain(' · until '), moment(at)]),
  ...(link === undefined ? [] : [plain(' · '), { type: 'link', url: link, text: 'open' }]),
]

const section = (elements: readonly JsonObject[]): JsonObject => ({
  type: 'rich_text_section',
  elements: [...elements],
})
/** Slack refuses an empty text. */
const plain = (text: string): JsonObject => ({ type: 'text', text: text === '' ? ' ' : text })
const bold = (text: string): JsonObject => ({ type: 'text', text, style: { bold: true } })

/** In the reader's time zone. */
const moment = (at: Instant): JsonObject => ({
  type: 'date',
  timestamp: Math.floor(at / 1000),
  format: '{date_short_pretty} {time}',
  fallback: toIsoText(at),
})

const header = (title: string): JsonObject => ({ type: 'header', text: slackText(title, MOST_OF_HEADER) })
const context = (text: string): JsonObject => ({ type: 'context', elements: [slackText(text, MOST_OF_CONTEXT)] })

/** @param most with the mark of what is left out */
export const slackText = (text: string, most: number): JsonObject => ({
  type: 'plain_text',
  text: shortenText(text, most - 1),
  emoji: false,
})

const button = (action: string, text: string, more: JsonObject): JsonObject => ({
  type: 'button',
  action_id: action,
  text: slackText(text, 75),
  ...more,
})

/** The second act: one press decides nothing. */
const confirmation = (title: string): JsonObject => ({
  title: slackText('Approve this call?', 100),
  text: slackText(title, 300),
  confirm: slackText('Approve', 30),
  deny: slackText('Go back', 30),
})

/** Slack reads this one as its markup, so the three characters that begin something are escaped. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const fallbackOf = (title: string): string => escapeMarkup(shortenText(title, MOST_OF_FALLBACK))

/** Whether two drawings look alike. */
export const isSameDrawing = (one: SlackDrawing, other: SlackDrawing): boolean =>
  one.text === other.text && JSON.stringify(one.blocks) === JSON.stringify(other.blocks)

/** Narrowing of what Slack sends back. */
export const textIn = (value: JsonValue | undefined, name: string): string | undefined => {
  const found = isJsonObject(value) ? value[name] : undefined
  return typeof found === 'string' ? found : undefined
}
