/** The page of a one-time link as HTML: the card's words and a form, without a script, from a screen of 320 px on. */
import { createHash } from 'node:crypto'
import { type Instant, toMinuteText } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import { escapeHtml, safeText } from '../../base/text/escape-text.ts'
import type { ShownTask } from '../../spec/task.ts'
import type { CardValue } from '../../view/task/card-values.ts'
import { presentTask, type CardRow } from '../../view/task/task-card.ts'

export const MOST_OF_COMMENT = 2000
/** Of what is beside the call; what is approved is always shown whole. */
const MOST_OF_ASIDE = 1500

export interface DrawnDecision {
  readonly task: ShownTask
  readonly email: string
  readonly expiresAt: Instant
  readonly seal: string
  readonly now: Instant
  readonly workspace: string
  /** Why the form that was sent decided nothing. */
  readonly problem?: string
  /** The task in the console. */
  readonly link?: string
}

export function drawDecision(given: DrawnDecision): string {
  const { task, email, expiresAt, seal, now, workspace, problem, link } = given
  const card = presentTask(task, now)
  const facts = [
    ...(card.sideEffect === undefined ? [] : [textRow('effect', card.sideEffect)]),
    ...(card.deadline === undefined ? [] : [textRow('deadline', card.deadline, 'waiting')]),
  ]
  return page(
    card.title,
    `<p class="dim">${escapeHtml(safeText(workspace))}</p><h1>${escapeHtml(card.title)}</h1>${
      problem === undefined ? '' : `<p class="problem" role="alert">${escapeHtml(safeText(problem))}</p>`
    }<dl>${card.rows.map(drawRow).join('')}${facts.join('')}</dl>
<form method="post"><input type="hidden" name="seal" value="${escapeHtml(seal)}">
<fieldset><legend>Your decision</legend>
<label><input type="radio" name="decision" value="approve" required> Approve</label>
<label><input type="radio" name="decision" value="reject" required> Reject</label></fieldset>
<label class="comment">Comment (optional)<textarea name="comment" rows="2" maxlength="${MOST_OF_COMMENT}"></textarea></label>
<button>Send the decision</button></form>
<p class="dim">You decide as ${escapeHtml(safeText(email))}, once, until ${toMinuteText(expiresAt)}. Opening this page decides nothing.</p>${consoleLink(link)}`,
  )
}

export interface DrawnDecisionWords {
  readonly title: string
  readonly text: string
  readonly isGood?: boolean
  readonly link?: string
  readonly linkText?: string
}

export const drawDecisionWords = ({ title, text, isGood = false, link, linkText }: DrawnDecisionWords): string =>
  page(
    title,
    `<h1${isGood ? ' class="good"' : ''}>${escapeHtml(safeText(title))}</h1><p>${escapeHtml(safeText(text))}</p>${consoleLink(link, linkText)}`,
  )

const consoleLink = (link: string | undefined, text = 'Open it in the console'): string =>
  link === undefined ? '' : `<p><a href="${escapeHtml(link)}" rel="noreferrer">${escapeHtml(safeText(text))}</a></p>`

const textRow = (label: string, text: string, mark = ''): string =>
  `<dt>${escapeHtml(label)}</dt><dd${mark === '' ? '' : ` class="${mark}"`}>${escapeHtml(text)}</dd>`

function drawRow(row: CardRow): string {
  if ('text' in row) {
    const place = row.place === undefined ? '' : ` <small>${escapeHtml(row.place)}</small>`
    return `<dt>${escapeHtml(row.label)}</dt><dd class="${row.emphasis ?? ''}">${escapeHtml(row.text)}${place}</dd>`
  }
  const values = row.values.map((value) => drawValue(value, row.isAside === true)).join('')
  return `<dt>${escapeHtml(row.label)}</dt><dd><ul>${values}</ul></dd>`
}

/** In a frame of its own, so that no value looks like a row of the card. */
function drawValue({ name, text, lines, unit, limit, place, weights = [] }: CardValue, isAside: boolean): string {
  const whole = lines?.join('\n') ?? text
  const shown = isAside ? shortenText(whole, MOST_OF_ASIDE) : whole
  const rule = [limit, place].filter((each) => each !== undefined).join(' · ')
  return `<li${weights.length > 0 ? ' class="weighty"' : ''}>${name === '' ? '' : `<b>${escapeHtml(name)}</b> `}${
    unit === undefined ? '' : `${escapeHtml(unit)} `
  }<code>${escapeHtml(shown)}</code>${rule === '' ? '' : `<small>${escapeHtml(rule)}</small>`}</li>`
}

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${escapeHtml(safeText(title))}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#e3e5ea,#272a31);--dim:light-dark(#586070,#a0a7b4);--accent:light-dark(#3451c9,#4a66e0);--link:light-dark(#3451c9,#93a8ff);--bad:light-dark(#b3261e,#ff8f87);--ok:light-dark(#17703a,#5fcb8b);--waiting:light-dark(#8f4b00,#f0ad56)}
body{margin:0;background:light-dark(#f7f8fa,#0e0f12);color:light-dark(#15181e,#e9ebef);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:40rem;margin:0 auto;padding:1rem}
h1{font-size:1.25rem;margin:0 0 1rem}
h1.good{color:var(--ok)}
.dim,dt,small{color:var(--dim)}
p.dim{margin:0 0 .25rem;font-size:.9rem}
dl{margin:0;padding:.5rem 1rem 1rem;background:light-dark(#fff,#15171b);border:1px solid var(--line);border-radius:8px}
dt{margin-top:.5rem;font-size:.85rem}
dd{margin:0;white-space:pre-wrap}
dd.strong{font-weight:600}
dd.danger,.problem{color:var(--bad);font-weight:600}
dd.waiting{color:var(--waiting)}
small{display:block;font-size:.85rem}
ul{list-style:none;margin:.25rem 0 0;padding:0 0 0 .75rem;border-left:3px solid var(--line)}
li.weighty{font-weight:600}
code{font:.95em ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap}
form{margin:1rem 0}
fieldset{margin:0;padding:.25rem 1rem .5rem;border:1px solid var(--line);border-radius:8px}
fieldset label{display:block;padding:.6rem 0;font-weight:600}
input{width:1.15rem;height:1.15rem;margin:0 .6rem 0 0;vertical-align:text-bottom}
.comment{display:block;margin:.75rem 0}
textarea{display:block;box-sizing:border-box;width:100%;margin-top:.25rem;padding:.5rem;font:inherit;border:1px solid var(--line);border-radius:8px}
button{width:100%;padding:.75rem;font:inherit;font-weight:600;color:#fff;background:var(--accent);border:0;border-radius:8px;cursor:pointer}
a{color:var(--link)}`

const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64')

/** The page loads and runs nothing; its form goes to its own address. */
export const DECISION_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  // With `no-referrer` a browser sends the form without its origin. The address, which is a secret, stays on this origin.
  'referrer-policy': 'same-origin',
}
