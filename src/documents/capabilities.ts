/**
 * What a tool can do to the secrecy of a run: bring private data, bring content of strangers, carry something out.
 * Labels of the Tool document say so; where there are none, names are guessed from. Source: lint rules, "security".
 */
import { isJsonObject } from '../base/json.ts'
import { effectiveClass, textAt, toolDocument, type ToolUse } from './bindings.ts'
import type { Document } from './document.ts'
import { oncePerObject } from './once.ts'
import { remembering } from './remember.ts'

export type Confidence = 'label' | 'guess'

export interface Capabilities {
  readonly private?: Confidence
  readonly untrusted?: Confidence
  readonly egress?: Confidence
}

export const capabilitiesOf = oncePerObject((workspace, use: ToolUse): Capabilities => {
  const tool = toolDocument(workspace, use)
  const words = wordsOf(`${use.ref?.id ?? ''} ${textAt(use.value, 'as') ?? ''}`)
  const has = (list: ReadonlySet<string>): boolean => words.some((word) => list.has(word))
  const writes = effectiveClass(workspace, use) !== 'read_only'
  const reads = !writes || has(READING)
  return {
    ...say('private', labelOf(tool, 'svc/data'), 'private', has(PRIVATE) && reads),
    ...say(
      'untrusted',
      labelOf(tool, 'svc/content'),
      'untrusted',
      // Nobody here has read what such a server answers.
      (has(STRANGERS) && reads) || (use.value['mcp'] !== undefined && tool === undefined),
    ),
    ...say('egress', labelOf(tool, 'svc/egress'), 'external', has(SENDING) && writes && !has(READING)),
  }
})

/** The words of a name: `crm.readCustomer_v2` has crm, read, customer and v2. */
export const wordsOf = remembering((name): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== ''),
)

function say<K extends keyof Capabilities>(
  what: K,
  label: string | undefined,
  meant: string,
  guess: boolean,
): { readonly [key in K]?: Confidence } {
  if (label !== undefined) return label === meant ? ({ [what]: 'label' } as { readonly [key in K]: Confidence }) : {}
  return guess ? ({ [what]: 'guess' } as { readonly [key in K]: Confidence }) : {}
}

function labelOf(tool: Document | undefined, name: string): string | undefined {
  const metadata = tool?.value['metadata']
  const labels = isJsonObject(metadata) ? metadata['labels'] : undefined
  return isJsonObject(labels) ? textAt(labels, name) || undefined : undefined
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '))
const PRIVATE = set(
  'crm customer customers patient patients payroll salary salaries hr employee employees contacts inbox mailbox medical vault',
)
const STRANGERS = set('web browser browse fetch scrape crawl rss inbox mailbox')
const SENDING = set('send post publish upload forward tweet notify webhook share email mail sms')
const READING = set('read get list search find lookup query fetch show view')
