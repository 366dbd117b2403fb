/** The words of a mail: those of the card for one notice, a list for many. Every text of others is escaped, as text and as HTML. */
import { type Instant, toMinuteText } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import { escapeHtml, safeText } from '../../base/text/escape-text.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { NoticeEvent } from '../../spec/notice.ts'
import type { CardValue } from '../../view/task/card-values.ts'
import { presentTask } from '../../view/task/task-card.ts'
import type { DecisionLink, NoticeMessage } from './channel.ts'

export interface MailText {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const MOST_OF_SUBJECT = 120
/** Longest value that a mail shows: the console shows it whole. */
const MOST_OF_VALUE = 500

/** A notice, and how its one recipient may decide it: by a link, or elsewhere for a reason. */
export interface MailedNotice extends NoticeMessage {
  readonly decide?: DecisionLink | { readonly why: string }
}

interface MailRow {
  readonly label: string
  readonly text: string
}

interface MailPart {
  readonly title: string
  readonly rows: readonly MailRow[]
  readonly link?: string
  readonly decide?: DecisionLink
}

export function writeMail(notices: readonly MailedNotice[], workspace: string, now: Instant): MailText {
  const parts = notices.map((notice) => toMailPart(notice, now))
  const footer = parts.some(({ decide }) => decide) ? OWN_FOOTER : FOOTER
  const [first] = parts
  const what = parts.length === 1 ? first!.title : `${parts.length} notices, first: ${first!.title}`
  return {
    // Escaped, so without the ends of lines that would begin another header.
    subject: shortenText(safeText(`[${workspace}] ${what}`), MOST_OF_SUBJECT),
    text: `${parts.map(toPlainText).join('\n\n')}\n\n${footer}\n`,
    html: `<!doctype html><html lang="en"><body style="${BODY}">${parts.map(toHtml).join('')}<p style="${MUTED}">${footer}</p></body></html>`,
  }
}

const FOOTER =
  'To decide, sign in to the console, or use svc inbox. This mail decides nothing, and neither does opening its link.'
const OWN_FOOTER =
  'This mail decides nothing, and neither does opening its links. The links that decide are yours: whoever has this mail decides as you, so do not forward it.'
const BODY = 'font:16px/1.4 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere'
const MUTED = 'color:#555'
const BUTTON =
  'display:inline-block;padding:.75rem 1.25rem;border-radius:8px;background:#3451c9;color:#fff;text-decoration:none;font-weight:600'

export const NOTICE_TITLES: Readonly<Record<NoticeEvent, string>> = {
  'task.created': 'Waits for a decision',
  'task.expiring': 'Expires soon',
  'task.decided': 'Decided',
  'run.failed': 'A run failed',
  'run.held': 'A run is held',
  'run.reviewed': 'A call of unknown outcome was reviewed',
  'deployment.changed': 'Another version is deployed',
  'budget.reached': 'A budget is reached',
  'notify.test': 'A test of this channel',
  'task.changed': 'A task changed',
}

function toMailPart({ notice, task, link, decide }: MailedNotice, now: Instant): MailPart {
  const { event, data } = notice
  const card = task && presentTask(task, now)
  const about = card?.title ?? [data['tool'] ?? data['agent']].filter((each) => typeof each === 'string').join('')
  const facts = card
    ? card.rows.map((row): MailRow => ({
        label: row.label,
        text:
          'text' in row
            ? `${row.text}${row.place === undefined ? '' : ` (${row.place})`}`
            : row.values.map(describeValue).join('\n'),
      }))
    : Object.entries(data).map(([label, value]): MailRow => ({ label, text: showValue(value) }))
  const rows = [
    { label: 'when', text: toMinuteText(notice.at) },
    ...(card?.sideEffect === undefined ? [] : [{ label: 'effect', text: card.sideEffect }]),
    ...(card?.deadline === undefined ? [] : [{ label: 'deadline', text: card.deadline }]),
    ...facts,
    ...(decide && 'why' in decide ? [{ label: 'decide', text: safeText(`in the console: ${decide.why}`) }] : []),
  ]
  return {
    title: safeText(titleOf(event, card?.title, about)),
    rows: rows.map(({ label, text }) => ({ label: safeText(label), text: shortenText(text, MOST_OF_VALUE) })),
    ...(link !== undefined && { link }),
    ...(decide && 'url' in decide && { decide }),
  }
}

/** `amount: EUR 180  (args.amount > 100 · refund-limits.policy.yaml:9)`. */
function describeValue({ name, text, unit, limit, place }: CardValue): string {
  const rule = [limit, place].filter((each) => each !== undefined).join(' · ')
  return `${name === '' ? '' : `${name}: `}${unit === undefined ? '' : `${unit} `}${text}${rule === '' ? '' : `  (${rule})`}`
}

/** The card of a task that waits says itself that it does. */
function titleOf(event: NoticeEvent, card: string | undefined, about: string): string {
  if (card !== undefined && event === 'task.created') return card
  return about === '' ? NOTICE_TITLES[event] : `${NOTICE_TITLES[event]}: ${about}`
}

const showValue = (value: JsonValue): string => safeText(typeof value === 'string' ? value : JSON.stringify(value))

/** `until 2026-11-29 11:00 UTC, without signing in`. */
const describeLink = ({ expiresAt }: DecisionLink): string => `until ${toMinuteText(expiresAt)}, without signing in`

const toPlainText = ({ title, rows, link, decide }: MailPart): string =>
  [
    title,
    ...rows.map(({ label, text }) => `  ${label}: ${text.replaceAll('\n', '\n    ')}`),
    ...(decide ? [`  Approve or reject it ${describeLink(decide)}:`, `  ${decide.url}`, '  Or in the console:'] : []),
    ...(link === undefined ? [] : [`  ${link}`]),
  ].join('\n')

const toHtml = ({ title, rows, link, decide }: MailPart): string =>
  `<h1 style="font-size:1.2rem">${escapeHtml(title)}</h1><dl>${rows
    .map(
      ({ label, text }) =>
        `<dt style="${MUTED}">${escapeHtml(label)}</dt><dd style="margin:0 0 .5rem;white-space:pre-wrap">${escapeHtml(text)}</dd>`,
    )
    .join('')}</dl>${
    decide
      ? `<p><a style="${BUTTON}" href="${escapeHtml(decide.url)}">Approve or reject it</a></p><p style="${MUTED}">${describeLink(decide)}</p>`
      : ''
  }${link === undefined ? '' : `<p><a href="${escapeHtml(link)}">Open it in the console</a></p>`}`
