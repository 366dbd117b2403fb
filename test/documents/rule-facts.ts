import type { LintOptions } from '../../src/documents/lint/lint.ts'
import type { Workspace } from '../../src/documents/workspace/workspace.ts'
import type { ToolListFault, ToolListing } from '../../src/tools/mcp/listed-tool.ts'

/** What the examples of a rule suppose beside their files: the environment, a server, a registry, results of tests. */
export function factsFor(rule: string, workspace: Workspace): LintOptions {
  return { ...REGISTRY, ...FACTS[rule], ...(LIVE.has(rule) && { mcp: mcpListings(workspace, rule) }) }
}

/** Read by every example: references to `ops.published` and `pay.published` occur under several rules. */
const REGISTRY: LintOptions = {
  published: {
    yanked: (kind, id, version) =>
      `${kind} ${id}@${version}` === 'Agent ops.published@1.3.0'
        ? { reason: 'answers in the wrong language' }
        : undefined,
    versions: (kind, id) => (kind === 'Agent' && id === 'ops.published' ? ['1.3.0', '1.4.2'] : []),
    document: (kind, id, version) =>
      kind === 'Tool' && id === 'pay.published' && version === '1.2.0'
        ? {
            apiVersion: 'svc/v1',
            kind: 'Tool',
            metadata: { name: 'published', namespace: 'pay', version: '1.2.0' },
            spec: { description: 'Pays an amount back.' },
          }
        : undefined,
  },
}

const SERVER: LintOptions = { server: { approvers: 1, hiddenTimelines: { 'acme.hidden': 'website' } } }

const TRUST: LintOptions = {
  trust: {
    file: 'trust.yaml',
    roles: new Set(['finance', 'legal']),
    loneReleasers: (id) => (id === 'acme.alone' ? ['ana@acme.example'] : []),
  },
}

const FACTS: Readonly<Record<string, LintOptions>> = {
  'tool/handler-missing': {
    missingHandlers: new Map([['pay.absent', { file: 'handlers/refunds.mjs', place: 'svc.config.yaml:7' }]]),
  },
  'secret/env-missing': { env: { PATH: '/usr/bin' } },
  'approval/starter-decides': { rules: { 'approval/starter-decides': 'warn' } },
  'mcp/not-pinned': { rules: { 'mcp/not-pinned': 'warn' } },
  'approval/quorum-unreachable': SERVER,
  'approval/hidden-timeline': SERVER,
  'authority/loosened': {
    loosened: [
      {
        agent: 'acme.loosened',
        change: 'pay.refund with {"amount":2000} needed an approval before, and is allowed now',
      },
    ],
  },
  'trust/unreachable-role': TRUST,
  'trust/no-separation': TRUST,
  'policy/untested': {
    coverage: new Map([
      ['pay.tested@1.0.0', []],
      ['pay.half-tested@1.0.0', [{ text: 'args.amount > 500', missing: ['false', 'unknown'] }]],
    ]),
  },
}

/** Rules that compare documents with the answers of live MCP servers. */
const LIVE: ReadonlySet<string> = new Set([
  'mcp/description-changed',
  'mcp/hint-conflict',
  'mcp/listing-fault',
  'tool/vendor-limit',
  'security/hidden-unicode',
])

function mcpListings(workspace: Workspace, rule: string): NonNullable<LintOptions['mcp']> {
  const listing = rule === 'mcp/listing-fault' ? { ...LISTING, faults: FAULTS } : LISTING
  return new Map(workspace.documents.map((document) => [document, new Map([['web', listing]])]))
}

const inputSchema = { type: 'object' }
const FAULTS: ToolListFault[] = [
  { tool: 'find', problem: 'Tool "find" is left out: its inputSchema is no object.' },
  {
    tool: 'forget',
    problem:
      'Arguments of tool "forget" are not checked against /properties/text/pattern of its schema: "(?i)x" is no pattern of JavaScript.',
  },
]
const LISTING: ToolListing = {
  tools: new Map([
    ['search', { name: 'search', description: 'Searches the web.', inputSchema }],
    [
      'filter',
      {
        name: 'filter',
        description: 'Filters.',
        inputSchema: { type: 'object', properties: { $filter: { type: 'string' } } },
      },
    ],
    ['whisper', { name: 'whisper', description: 'Whispers\u2062.', inputSchema }],
    ['forget', { name: 'forget', description: 'Forgets a page.', inputSchema, readOnly: false, destructive: true }],
  ]),
  faults: [],
}
