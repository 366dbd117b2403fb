/** The tables of the authoring format, transcribed: what each field may be. Tests compare the schemas with this, not with themselves. */
import type { JsonValue } from '../../src/base/json.ts'
import type { Kind } from '../../src/spec/document.ts'

export interface Field {
  readonly kind: Kind
  /** Keys from the top of the full document; a number is an item of a list. */
  readonly path: readonly (string | number)[]
  /** The sentence of the format. */
  readonly says: string
  readonly required: boolean
  readonly good: readonly JsonValue[]
  readonly bad: readonly JsonValue[]
}

interface Type {
  readonly says: string
  readonly good: readonly JsonValue[]
  readonly bad: readonly JsonValue[]
}

const text: Type = { says: 'string', good: ['x', ''], bad: [1, true, null, [], {}] }
const filled: Type = { says: 'non-empty string', good: ['x', 'a longer text'], bad: ['', 1, true, null, [], {}] }
const integer: Type = { says: 'integer', good: [1, 7, 100000], bad: ['1', 1.5, true, null, []] }
const number: Type = { says: 'number', good: [0, 0.5, 1], bad: ['1', true, null, []] }
const boolean: Type = { says: 'boolean', good: [true, false], bad: ['true', 'yes', 1, null] }
const map: Type = {
  says: 'map of string to string',
  good: [{}, { a: 'b' }],
  bad: [[], 'x', { a: 1 }, { a: null }, { a: {} }],
}
const filledList: Type = {
  says: 'array of non-empty strings',
  good: [[], ['a'], ['a', 'b']],
  bad: ['a', [''], [1], {}],
}
const textList: Type = { says: 'array of string', good: [[], ['a'], ['']], bad: ['a', [1], {}] }
const free: Type = { says: 'object, free-form', good: [{}, { anything: [1, { at: 'all' }] }], bad: [[], 'x', 1, null] }
const label: Type = { says: 'string or number', good: ['2', 2, 1.5], bad: [true, null, [], {}] }
const secretName: Type = {
  says: 'string matching ^[a-z][a-z0-9_-]*$',
  good: ['vendor', 'a_b-1'],
  bad: ['Vendor', '1a', '_a', 'a.b', 'a b', '', 1, null],
}
const oneOf = (...words: string[]): Type => ({
  says: words.map((word) => `\`${word}\``).join(', '),
  good: words,
  bad: ['other', words[0]!.toUpperCase(), `${words[0]} `, '', 1, null, [words[0]!]],
})
const constant = (word: string): Type => ({
  says: `constant \`${word}\``,
  good: [word],
  bad: [`${word}x`, word.toUpperCase(), '', 1, null],
})
const mapping: Type = { says: 'object', good: [], bad: [[], 'x', 1, null] }
const list: Type = { says: 'array', good: [[]], bad: [{}, 'x', 1, null] }
const schemaSpec: Type = {
  says: 'schema spec: exactly one of `ref` or `inline`',
  good: [
    { ref: 'schemas/a.json' },
    { ref: 'a.json', version: '2' },
    { ref: 'a.json', version: 2 },
    { inline: { type: 'object' } },
  ],
  bad: [
    {},
    { version: 2 },
    { ref: '' },
    { ref: 1 },
    { inline: {} },
    { inline: [] },
    { ref: 'a.json', inline: { type: 'object' } },
    { ref: 'a.json', version: true },
    { ref: 'a.json', other: 1 },
    'a.json',
    [],
    null,
  ],
}
const attachments: Type = {
  says: 'array of policy attachments: a non-empty string or an object with `ref`',
  good: [[], ['a.b'], [{ ref: 'policies/a.yaml' }], ['a.b', { ref: 'p.yaml' }]],
  bad: [[''], [1], [{}], [{ ref: '' }], [{ ref: 'p.yaml', version: '1' }], [null], 'a.b', {}],
}
const sideEffect = oneOf('read_only', 'idempotent_write', 'non_idempotent_write', 'irreversible_action')

/** A field of one kind or of several. */
function rows(
  kinds: readonly Kind[],
  at: string,
  fields: Readonly<Record<string, readonly [Type, boolean?]>>,
): Field[] {
  const base = at === '' ? [] : at.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  return kinds.flatMap((kind) =>
    Object.entries(fields).map(([name, [type, required = false]]) => ({
      kind,
      path: [...base, name],
      says: `${kind}: \`${[...base, name].join('.')}\` is ${type.says}${required ? ', required' : ''}`,
      required,
      good: type.good,
      bad: type.bad,
    })),
  )
}

const ALL: readonly Kind[] = ['Agent', 'Tool', 'Policy', 'Bundle']
const REQUIRED = true

export const fields: readonly Field[] = [
  ...rows(ALL, '', {
    apiVersion: [constant('svc/v1'), REQUIRED],
    metadata: [mapping, REQUIRED],
    spec: [mapping, REQUIRED],
  }),
  ...ALL.flatMap((kind) => rows([kind], '', { kind: [constant(kind), REQUIRED] })),
  ...rows(ALL, 'metadata', {
    name: [filled, REQUIRED],
    namespace: [filled, REQUIRED],
    version: [filled, REQUIRED],
    labels: [map],
  }),
  ...rows(['Agent'], 'metadata', { owner: [text], governance: [mapping], annotations: [map] }),
  ...rows(['Agent'], 'metadata.governance', {
    risk_tier: [text],
    authority_boundaries: [filledList],
    classifications: [filledList],
    frameworks: [free],
  }),
  ...rows(['Agent'], '', { secrets: [mapping], output: [mapping] }),
  ...rows(['Agent'], 'secrets.vendor', { fromEnv: [filled, REQUIRED] }),
  ...rows(['Agent'], 'output', {
    format: [oneOf('text', 'json')],
    schema: [schemaSpec],
    strict: [boolean],
    on_invalid: [oneOf('retry', 'repair', 'escalate', 'fail')],
  }),
  ...rows(['Agent'], 'spec', {
    purpose: [filled, REQUIRED],
    instructions: [mapping, REQUIRED],
    model: [mapping, REQUIRED],
    tools: [list],
    mcp_servers: [list],
    agents: [list],
    default_policies: [attachments],
    limits: [mapping],
  }),
  ...rows(['Agent'], 'spec.instructions', { ref: [filled, REQUIRED], version: [label] }),
  ...rows(['Agent'], 'spec.model', {
    name: [filled, REQUIRED],
    secret: [secretName],
    parameters: [mapping],
    reasoning: [mapping],
    provider_options: [free],
  }),
  ...rows(['Agent'], 'spec.model.parameters', {
    temperature: [number],
    max_output_tokens: [integer],
    stop_sequences: [textList],
  }),
  ...rows(['Agent'], 'spec.model.reasoning', { effort: [oneOf('low', 'medium', 'high')] }),
  ...rows(['Agent'], 'spec.tools.0', {
    ref: [filled, REQUIRED],
    as: [filled],
    description: [text],
    input_schema: [schemaSpec],
    side_effect_class: [sideEffect],
    mcp: [mapping],
    policies: [attachments],
  }),
  ...rows(['Agent'], 'spec.tools.0.mcp', { server: [filled, REQUIRED], tool: [filled] }),
  ...rows(['Agent'], 'spec.mcp_servers.0', {
    name: [filled, REQUIRED],
    url: [filled, REQUIRED],
    transport: [constant('streamable_http')],
    auth: [mapping],
  }),
  ...rows(['Agent'], 'spec.mcp_servers.0.auth', {
    scheme: [oneOf('header', 'bearer'), REQUIRED],
    secret: [filled, REQUIRED],
  }),
  ...rows(['Agent'], 'spec.agents.0', {
    ref: [filled, REQUIRED],
    as: [filled],
    description: [text],
    input_schema: [schemaSpec],
    result: [oneOf('summary', 'full')],
    policies: [attachments],
    late_bound: [boolean],
  }),
  ...rows(['Agent'], 'spec.limits', {
    max_tokens_per_run: [integer],
    max_loop_iterations: [integer],
    max_wall_clock_seconds: [integer],
    max_hitl_wait_minutes: [integer],
    max_subagent_depth: [{ ...integer, says: 'integer, minimum 1', bad: [...integer.bad, 0, -1] }],
    on_limit: [oneOf('halt', 'escalate')],
  }),
  ...rows(['Tool'], 'spec', {
    description: [text],
    side_effect_class: [sideEffect],
    input_schema: [schemaSpec],
    output_schema: [schemaSpec],
    default_policies: [filledList],
  }),
  ...rows(['Policy'], 'spec', {
    description: [text],
    scope: [text],
    allow: [filledList],
    conditions: [free],
    decision: [mapping],
  }),
  ...rows(['Policy'], 'spec.decision', {
    type: [oneOf('allow', 'deny', 'require_approval', 'escalate', 'block'), REQUIRED],
    authority_ref: [text],
    approvals_required: [integer],
    reason: [text],
    on_reject: [text],
    on_modify: [text],
    comprehension_required: [boolean],
    timeout: [mapping],
    runtime: [free],
  }),
  ...rows(['Policy'], 'spec.decision.timeout', {
    after_minutes: [integer, REQUIRED],
    default: [oneOf('deny', 'allow', 'escalate'), REQUIRED],
  }),
  ...rows(['Bundle'], 'spec', { root: [filled, REQUIRED] }),
]

const identity = { name: 'desk', namespace: 'acme', version: '1.0.0', labels: { team: 'claims' } }

/** A document of each kind with every field that may stand beside the others. */
export const full: Readonly<Record<Kind, JsonValue>> = {
  Agent: {
    apiVersion: 'svc/v1',
    kind: 'Agent',
    metadata: {
      ...identity,
      owner: 'team',
      governance: {
        risk_tier: 'high',
        authority_boundaries: ['spend'],
        classifications: ['pii'],
        frameworks: { iso: { level: 2 } },
      },
      annotations: { note: 'x' },
    },
    secrets: { vendor: { fromEnv: 'VENDOR_KEY' } },
    output: { format: 'json', schema: { ref: 'schemas/out.json' }, strict: true, on_invalid: 'retry' },
    spec: {
      purpose: 'Answers.',
      instructions: { ref: 'prompts/system.md', version: 2 },
      model: {
        provider: 'vendor_a',
        name: 'm',
        secret: 'vendor',
        parameters: { temperature: 0.5, max_output_tokens: 100, stop_sequences: ['END'] },
        reasoning: { effort: 'low' },
        provider_options: { seed: 7 },
      },
      tools: [
        {
          ref: 'pay.refund@^1',
          as: 'refund',
          description: 'Pays back.',
          input_schema: { inline: { type: 'object' } },
          side_effect_class: 'read_only',
          mcp: { server: 'web', tool: 'refund' },
          policies: ['acme.limit', { ref: 'policies/limit.yaml' }],
        },
      ],
      mcp_servers: [
        {
          name: 'web',
          url: 'https://mcp.example/',
          transport: 'streamable_http',
          auth: { scheme: 'header', secret: 'vendor', header: 'X-Api-Key' },
        },
      ],
      agents: [
        {
          ref: 'agents/child.yaml',
          as: 'child',
          description: 'Checks.',
          input_schema: { ref: 'schemas/in.json' },
          result: 'summary',
          policies: ['acme.limit'],
          late_bound: false,
        },
      ],
      default_policies: ['acme.limit'],
      limits: {
        max_tokens_per_run: 1000,
        max_loop_iterations: 5,
        max_wall_clock_seconds: 60,
        max_hitl_wait_minutes: 60,
        max_subagent_depth: 2,
        on_limit: 'halt',
      },
    },
  },
  Tool: {
    apiVersion: 'svc/v1',
    kind: 'Tool',
    metadata: identity,
    spec: {
      description: 'Pays back.',
      side_effect_class: 'read_only',
      input_schema: { inline: { type: 'object' } },
      output_schema: { ref: 'schemas/out.json' },
      default_policies: ['acme.limit'],
    },
  },
  Policy: {
    apiVersion: 'svc/v1',
    kind: 'Policy',
    metadata: identity,
    spec: {
      description: 'Large ones.',
      scope: 'tool:pay.refund',
      allow: ['EUR'],
      conditions: { field: 'args.amount', op: 'gt', value: 5 },
      decision: {
        type: 'require_approval',
        authority_ref: 'spend',
        approvals_required: 1,
        reason: 'Large.',
        on_reject: 'fail',
        on_modify: 'revalidate',
        comprehension_required: true,
        timeout: { after_minutes: 30, default: 'deny' },
        runtime: { 'svc/message': 'No.' },
      },
    },
  },
  Bundle: { apiVersion: 'svc/v1', kind: 'Bundle', metadata: identity, spec: { root: 'agents/desk.yaml' } },
}

/** Mappings that reject unknown properties: those of the tables, and not those that are free-form. */
export const closed: readonly { readonly kind: Kind; readonly path: Field['path'] }[] = [
  ...new Map(
    fields.map(({ kind, path }) => [`${kind} ${path.slice(0, -1).join('.')}`, { kind, path: path.slice(0, -1) }]),
  ).values(),
]

type Path = Field['path']

/** A copy with another value at a path; without one where the value is undefined. */
export function changed(document: JsonValue, path: Path, value: JsonValue | undefined): JsonValue {
  const [key, ...rest] = path
  if (key === undefined) return value ?? null
  if (Array.isArray(document)) return document.map((each, index) => (index === key ? changed(each, rest, value) : each))
  const object = document as Record<string, JsonValue>
  if (rest.length > 0) return { ...object, [key]: changed(object[key]!, rest, value) }
  const { [String(key)]: _, ...others } = object
  return value === undefined ? others : { ...object, [key]: value }
}

export function at(document: JsonValue, path: Path): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (here, key) => (typeof here === 'object' && here !== null ? (here as Record<string, JsonValue>)[key] : undefined),
    document,
  )
}
