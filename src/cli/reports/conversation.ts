/** A conversation as Markdown or as an HTML page, one entry per timeline item. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { Conversation, TimelineItem } from '../../spec/api.ts'
import { escapeHtml, safeText } from '../../base/text/escape-text.ts'

interface ConversationEntry {
  readonly ordinal: number
  /** Depth of the run in the tree; 0 is the root. */
  readonly depth: number
  readonly type: string
  /** RFC 3339; null in a timeline that is hidden. */
  readonly at: string | null
  /** The message, for items that consist of one. */
  readonly words?: string
  readonly content: JsonValue
  readonly error: string | null
}

/** Lines of CommonMark. Text of models and tools is quoted, so that it cannot forge headings. */
export function toMarkdown(conversation: Conversation): string[] {
  const { session } = conversation
  const blocks = [
    `# ${titleOf(conversation)}`,
    [
      `- status: ${session.status}`,
      `- session: ${session.id}`,
      `- started: ${session.startedAt}`,
      ...(session.finishedAt === null ? [] : [`- finished: ${session.finishedAt}`]),
      `- tokens: ${session.totalTokensUsed}`,
    ].join('\n'),
    ...entriesOf(conversation).map((entry) =>
      [
        `## ${headOf(entry)}`,
        ...(entry.error === null ? [] : [quote(`error: ${entry.error}`)]),
        ...textBlockOf(entry),
      ].join('\n\n'),
    ),
  ]
  return blocks.join('\n\n').split('\n')
}

/** One self-contained HTML file without scripts. */
export function toHtml(conversation: Conversation): string {
  const { session } = conversation
  const title = escapeHtml(titleOf(conversation))
  const entries = entriesOf(conversation).map(
    (entry) => `<section style="margin-left:${entry.depth * 2}em"${entry.error === null ? '' : ' class="bad"'}>
<h2>${escapeHtml(headOf(entry))}</h2>
${entry.error === null ? '' : `<p>${escapeHtml(entry.error)}</p>\n`}${htmlBlockOf(entry)}
</section>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; color-scheme: light dark }
h1 { font-size: 1.4em } h2 { font-size: 1em; margin: 1.5em 0 .25em }
p { margin: .25em 0; white-space: pre-wrap; overflow-wrap: anywhere }
pre { margin: .25em 0; padding: .75em; overflow-x: auto; border: 1px solid; border-radius: 4px; font-size: .85em }
.bad h2 { color: #c22 }
</style>
<h1>${title}</h1>
<p>${escapeHtml(`${session.status} · ${session.startedAt} · ${session.totalTokensUsed} tokens · session ${session.id}`)}</p>
${entries.join('\n')}
</html>
`
}

function textBlockOf({ words, content }: ConversationEntry): string[] {
  if (words !== undefined) return [quote(words)]
  return content === null ? [] : [fence(content)]
}

function htmlBlockOf({ words, content }: ConversationEntry): string {
  if (words !== undefined) return `<p>${escapeHtml(words)}</p>`
  return content === null ? '' : `<pre>${escapeHtml(printed(content))}</pre>`
}

function entriesOf({ items, runs }: Conversation): ConversationEntry[] {
  const depths = new Map(runs.map(({ id, depth }) => [id, depth]))
  return items
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map((item) => {
      const words = wordsOf(item)
      return {
        ordinal: item.ordinal,
        depth: depths.get(item.runId) ?? 0,
        type: item.type,
        at: item.startedAt,
        ...(words !== undefined && { words }),
        content: (item.content ?? null) as JsonValue,
        error: item.error,
      }
    })
}

/** The text of a message item. */
function wordsOf({ type, content }: TimelineItem): string | undefined {
  if (type !== 'Reasoning' && type !== 'UserMessage') return undefined
  const { text } = (isJsonObject(content) ? content : {}) as JsonObject
  return typeof text === 'string' && text !== '' ? text : undefined
}

const titleOf = ({ session, runs }: Conversation): string => {
  const root = runs.findLast(({ depth }) => depth === 0)
  return root ? `${root.agentName}@${root.versionLabel}` : session.id
}

const headOf = ({ ordinal, depth, type, at }: ConversationEntry): string =>
  [`${ordinal}`, ...(depth > 0 ? [`sub-agent ${depth}`] : []), type, ...(at === null ? [] : [at])].join(' · ')

const printed = (value: JsonValue): string => JSON.stringify(value, null, 2)

const quote = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${safeText(line).replaceAll('<', '&lt;')}`.trimEnd())
    .join('\n')

/** Longer than any fence in the value itself. */
function fence(value: JsonValue): string {
  const text = printed(value)
  const ticks = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `${ticks}json\n${text}\n${ticks}`
}
