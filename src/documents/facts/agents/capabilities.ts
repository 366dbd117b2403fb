/**
 * Capabilities of a tool: reads private data, reads untrusted content, sends data out. Taken from the labels of the Tool
 * document, otherwise guessed from names. Source: docs/design/lint.md#capabilities
 */
import { effectiveClass, textMember, toolDocument, toolsOf, type ToolUse } from './bindings.ts'
import { mappingIn, type Document } from '../../text/document.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import { memoizeByText } from '../../text/memoize-by-text.ts'

export type CapabilityConfidence = 'label' | 'guess'

export interface ToolCapabilities {
  readonly private: CapabilityConfidence | undefined
  readonly untrusted: CapabilityConfidence | undefined
  readonly egress: CapabilityConfidence | undefined
}

export const capabilitiesOf = memoizePerObject((workspace, use: ToolUse): ToolCapabilities => {
  const tool = toolDocument(workspace, use)
  const has = hintsOf(
    textMember(use.value, 'as') === undefined
      ? (use.ref?.id ?? '')
      : `${use.ref?.id ?? ''} ${textMember(use.value, 'as')}`,
  )
  const writes = effectiveClass(workspace, use) !== 'read_only'
  const reads = !writes || has.reading
  // Without a Tool document, the answers of an MCP server are of unknown origin.
  const unread = use.value['mcp'] !== undefined && tool === undefined
  return {
    private: known(labelOf(tool, 'svc/data'), 'private', has.private && reads),
    untrusted: known(labelOf(tool, 'svc/content'), 'untrusted', (has.untrusted && reads) || unread),
    egress: known(labelOf(tool, 'svc/egress'), 'external', has.sending && writes && !has.reading),
  }
})

/** The capabilities that at least one binding of an agent has. */
export const agentCapabilitiesOf = memoizePerObject(
  (workspace, agent: Document): Readonly<Record<keyof ToolCapabilities, boolean>> => {
    const can = { private: false, untrusted: false, egress: false }
    for (const use of toolsOf(agent)) {
      const each = capabilitiesOf(workspace, use)
      if (each.private !== undefined) can.private = true
      if (each.untrusted !== undefined) can.untrusted = true
      if (each.egress !== undefined) can.egress = true
    }
    return can
  },
)

/** The capabilities that the words of a name suggest. */
const hintsOf = memoizeByText((name) => {
  const words = wordsOf(name)
  const has = (list: ReadonlySet<string>): boolean => words.some((word) => list.has(word))
  return { private: has(PRIVATE), untrusted: has(OUTSIDE), sending: has(SENDING), reading: has(READING) }
})

/** The words of a name: `crm.readCustomer_v2` has crm, read, customer and v2. */
export const wordsOf = memoizeByText((name): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== ''),
)

function known(label: string | undefined, meant: string, guess: boolean): CapabilityConfidence | undefined {
  if (label !== undefined) return label === meant ? 'label' : undefined
  return guess ? 'guess' : undefined
}

const labelOf = (tool: Document | undefined, name: string): string | undefined =>
  (tool && textMember(mappingIn(tool, 'metadata', 'labels'), name)) || undefined

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '))
const PRIVATE = set(
  'crm customer customers patient patients payroll salary salaries hr employee employees contacts inbox mailbox medical vault',
)
const OUTSIDE = set('web browser browse fetch scrape crawl rss inbox mailbox')
const SENDING = set('send post publish upload forward tweet notify webhook share email mail sms')
const READING = set('read get list search find lookup query fetch show view')
