/** The limits of Slack's reference of Block Kit for the blocks that svc sends, and how they look as text. */
import type { Json } from './slack.ts'

const MOST_BLOCKS = 50

/** What Slack refuses of these blocks; undefined where it takes them. */
export function findBlockFault(blocks: readonly Json[]): string | undefined {
  if (blocks.length > MOST_BLOCKS) return 'no more than 50 items allowed'
  for (const [at, block] of blocks.entries()) {
    const fault = faultOf(block)
    if (fault !== undefined) return `${fault} [json-pointer:/blocks/${at}]`
  }
  return undefined
}

function faultOf(block: Json): string | undefined {
  const elements = (block['elements'] ?? []) as readonly Json[]
  switch (block['type']) {
    case 'header':
      return faultOfText(block['text'], 150)
    case 'context':
      return elements.length < 1 || elements.length > 10
        ? 'a context has 1 to 10 elements'
        : first(elements, (each) => faultOfText(each, 2000))
    case 'actions': {
      const ids = elements.map((each) => each['action_id'])
      if (new Set(ids).size !== ids.length) return 'action_id already exists'
      return elements.length < 1 || elements.length > 25
        ? 'actions have 1 to 25 elements'
        : first(elements, faultOfButton)
    }
    case 'rich_text':
      return elements.length === 0 ? 'elements must not be empty' : first(elements, faultOfRichText)
    case 'section':
      return faultOfText(block['text'], 3000)
    case 'input':
      return faultOfText(block['label'], 2000)
    default:
      return `unsupported type: ${String(block['type'])}`
  }
}

function faultOfButton(given: Json): string | undefined {
  const confirm = given['confirm'] as Json | undefined
  if (given['type'] !== 'button') return 'no button'
  if (String(given['action_id']).length > 255) return 'action_id is too long'
  if (lengthOf(given['value']) > 2000) return 'value is too long'
  if (lengthOf(given['url']) > 3000) return 'url is too long'
  if (!['primary', 'danger', undefined].includes(given['style'] as string)) return 'unknown style'
  return (
    faultOfText(given['text'], 75) ??
    (confirm &&
      (faultOfText(confirm['title'], 100) ??
        faultOfText(confirm['text'], 300) ??
        faultOfText(confirm['confirm'], 30) ??
        faultOfText(confirm['deny'], 30)))
  )
}

function faultOfText(given: unknown, most: number): string | undefined {
  const { type, text } = (given ?? {}) as { readonly type?: string; readonly text?: string }
  if (type !== 'plain_text' && type !== 'mrkdwn') return 'a text is plain_text or mrkdwn'
  if (typeof text !== 'string' || text.length < 1) return 'must be more than 0 characters'
  return text.length > most ? `must be less than ${most + 1} characters` : undefined
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

const HOLDERS = new Set(['rich_text_section', 'rich_text_quote', 'rich_text_preformatted'])

function faultOfRichText(given: Json): string | undefined {
  const elements = (given['elements'] ?? []) as readonly Json[]
  if (given['type'] === 'rich_text_list') return first(elements, faultOfRichText)
  if (!HOLDERS.has(String(given['type']))) return `unsupported rich text: ${String(given['type'])}`
  // Slack names no limit for these; that of a section is kept.
  if (elements.reduce((sum, each) => sum + lengthOf(each['text']), 0) > 3000) return 'the text is too long'
  return first(elements, (each) => {
    if (each['type'] === 'date') return Number.isInteger(each['timestamp']) ? undefined : 'timestamp is no integer'
    if (each['type'] !== 'text' && each['type'] !== 'link') return `unsupported element: ${String(each['type'])}`
    return typeof each['text'] === 'string' && each['text'] !== '' ? undefined : 'missing text'
  })
}

const first = (items: readonly Json[], find: (item: Json) => string | undefined): string | undefined =>
  items.map(find).find((each) => each !== undefined)

/** Blocks as a person reads them; dates in UTC. */
export const renderBlocks = (blocks: readonly Json[]): string => blocks.map(renderBlock).join('\n')

function renderBlock(block: Json): string {
  const elements = (block['elements'] ?? []) as readonly Json[]
  switch (block['type']) {
    case 'header':
      return `# ${textOf(block['text'])}`
    case 'context':
      return elements.map((each) => `~ ${textOf(each)}`).join('\n')
    case 'actions':
      return elements.map((each) => `[${textOf(each['text'])}]`).join(' ')
    case 'rich_text':
      return elements.map(renderRichText).join('\n')
    default:
      return textOf(block['text'])
  }
}

function renderRichText(given: Json): string {
  const elements = (given['elements'] ?? []) as readonly Json[]
  if (given['type'] === 'rich_text_list') return elements.map((each) => `- ${renderRichText(each)}`).join('\n')
  const text = elements
    .map((each) =>
      each['type'] === 'date'
        ? new Date(Number(each['timestamp']) * 1000).toISOString().slice(0, 16).replace('T', ' ')
        : String(each['text']),
    )
    .join('')
  return given['type'] === 'rich_text_quote' ? text.replaceAll(/^/gm, '| ') : text
}

const textOf = (given: unknown): string => (given as { readonly text: string }).text
