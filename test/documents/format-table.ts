/** The tables of the authoring format, transcribed: what each field may be. Tests compare the schemas with this, not with themselves. */
import type { JsonValue } from '../../src/base/json/json.ts'
import type { DocumentKind } from '../../src/spec/document.ts'

export interface Field {
  readonly kind: DocumentKind
  /** Keys from the top of the full document; a number is an item of a list. */
  readonly path: readonly (string | number)[]
  /** The sentence of the format. */
  readonly says: string
  readonly required: boolean
  readonly good: readonly JsonValue[]
  readonly bad: readonly JsonValue[]
  /** The type as a function, for values that nobody thought of. What stands below in rows of its own is judged there. */
  readonly accepts: (value: JsonValue) => boolean
}

interface Type extends Pick<Field, 'says' | 'good' | 'bad' | 'accepts'> {}

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string'
const isFilled = (value: JsonValue | undefined): boolean => isText(value) && value !== ''
const isLabel = (value: JsonValue | undefined): boolean => isText(value) || typeof value === 'number'
const isListOf = (value: JsonValue, each: (item: JsonValue) => boolean): boolean =>
  Array.isArray(value) && value.every(each)
export const isMapping = (value: JsonValue | undefined): value is Record<string, JsonValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const hasOnly = (value: Record<string, JsonValue>, ...names: string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name))

const ONE_OF_EACH: Readonly<Record<string, JsonValue>> = {
  string: 'x',
  number: 1,
  boolean: true,
  null: null,
  array: [],
  object: {},
}

/** A value of each type of JSON but those named. */
const notOf = (...types: string[]): JsonValue[] =>
  Object.entries(ONE_OF_EACH).flatMap(([type, value]) => (types.includes(type) ? [] : [value]))

const text: Type = { says: 'string', good: ['x', ''], bad: notOf('string'), accepts: isText }
const filled: Type = {
  says: 'non-empty string',
  good: ['x', 'a longer text', ' '],
  bad: ['', ...notOf('string')],
  accepts: isFilled,
}
const integer: Type = {
  says: 'integer',
  good: [1, 7, 100000, 0, -1, 2.0],
  bad: [1.5, '1', ...notOf('number')],
  accepts: Number.isInteger,
}
const number: Type = {
  says: 'number',
  good: [0, 0.5, 1, -3],
  bad: ['1', ...notOf('number')],
  accepts: (value) => typeof value === 'number',
}
const boolean: Type = {
  says: 'boolean',
  good: [true, false],
  bad: ['true', 'yes', 0, ...notOf('boolean')],
  accepts: (value) => typeof value === 'boolean',
}
const map: Type = {
  says: 'map of string to string',
  good: [{}, { a: 'b' }, { 'svc/A b': '' }],
  bad: [{ a: 1 }, { a: null }, { a: true }, { a: {} }, { a: ['b'] }, ...notOf('object')],
  accepts: (value) => isMapping(value) && Object.values(value).every(isText),
}
const filledList: Type = {
  says: 'array of non-empty strings',
  good: [[], ['a'], ['a', 'b'], ['a', 'a']],
  bad: [[''], ['a', ''], [1], [null], [['a']], [{ ref: 'policies/a.yaml' }], ...notOf('array')],
  accepts: (value) => isListOf(value, isFilled),
}
const textList: Type = {
  says: 'array of string',
  good: [[], ['a'], ['']],
  bad: [[1], [null], [['a']], [{}], ...notOf('array')],
  accepts: (value) => isListOf(value, isText),
}
const free: Type = {
  says: 'object, free-form',
  good: [{}, { anything: [1, { at: 'all' }, null] }],
  bad: notOf('object'),
  accepts: isMapping,
}
const label: Type = {
  says: 'string or number',
  good: ['2', '', 2, 1.5],
  bad: notOf('string', 'number'),
  accepts: isLabel,
}
const SECRET_NAME = /^[a-z][a-z0-9_-]*$/
const secretName: Type = {
  says: 'string matching ^[a-z][a-z0-9_-]*$',
  good: ['vendor', 'a_b-1'],
  bad: ['Vendor', '1a', '_a', '-a', 'a.b', 'a b', 'ä', 'a\n', '', ...notOf('string')],
  accepts: (value) => isText(value) && SECRET_NAME.test(value),
}
const oneOf = (...words: string[]): Type => ({
  says: words.map((word) => `\`${word}\``).join(', '),
  good: words,
  bad: ['other', words[0]!.toUpperCase(), `${words[0]} `, '', [words[0]!], ...notOf('string')],
  accepts: (value) => isText(value) && words.includes(value),
})
const constant = (word: string): Type => ({
  says: `constant \`${word}\``,
  good: [word],
  bad: [`${word}x`, ` ${word}`, word.toUpperCase(), '', ...notOf('string')],
  accepts: (value) => value === word,
})
const mapping: Type = { says: 'object', good: [], bad: notOf('object'), accepts: isMapping }
const list: Type = {
  says: 'array',
  good: [[]],
  bad: [['x'], [null], [[]], ...notOf('array')],
  accepts: (value) => isListOf(value, isMapping),
}
const schemaSpec: Type = {
  says: 'schema spec: exactly one of `ref` or `inline`',
  good: [
    { ref: 'schemas/a.json' },
    { ref: 'a.json', version: '2' },
    { ref: 'a.json', version: 2 },
    { inline: { type: 'object' } },
    { inline: { anything: null } },
  ],
  bad: [
    {},
    { version: 2 },
    { ref: '' },
    { ref: 1 },
    { ref: null },
    { inline: {} },
    { inline: [] },
    { inline: true },
    { inline: null },
    { ref: 'a.json', inline: { type: 'object' } },
    { ref: 'a.json', inline: {} },
    { ref: 'a.json', version: true },
    { ref: 'a.json', version: null },
    { ref: 'a.json', other: 1 },
    { type: 'object' },
    'a.json',
    1,
    [],
    null,
  ],
  accepts: (value) =>
    isMapping(value) &&
    hasOnly(value, 'ref', 'inline', 'version') &&
    'ref' in value !== 'inline' in value &&
    (!('ref' in value) || isFilled(value['ref'])) &&
    (!('inline' in value) || (isMapping(value['inline']) && Object.keys(value['inline']).length > 0)) &&
    (!('version' in value) || isLabel(value['version'])),
}
const attachments: Type = {
  says: 'array of policy attachments: a non-empty string or an object with `ref`',
  good: [[], ['a.b'], [{ ref: 'policies/a.yaml' }], ['a.b', { ref: 'p.yaml' }]],
  bad: [
    [''],
    [1],
    [null],
    [['a.b']],
    [{}],
    [{ ref: '' }],
    [{ ref: null }],
    [{ id: 'a.b' }],
    [{ ref: 'p.yaml', version: '1' }],
    ...notOf('array'),
  ],
  accepts: (value) =>
    isListOf(value, (each) => isFilled(each) || (isMapping(each) && hasOnly(each, 'ref') && isFilled(each['ref']))),
}
const sideEffect = oneOf('read_only', 'idempotent_write', 'non_idempotent_write', 'irreversible_action')

/** A field of one kind or of several. */
function rows(
  kinds: readonly DocumentKind[],
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
      accepts: type.accepts,
    })),
  )
}

const ALL: readonly DocumentKind[] = ['Agent', 'Tool', 'Policy', 'Bundle']
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
    max_subagent_depth: [
      {
        says: 'integer, minimum 1',
        good: [1, 7],
        bad: [...integer.bad, 0, -1],
        accepts: (value) => Number.isInteger(value) && Number(value) >= 1,
      },
    ],
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

/** Fields that stand in place of others, or beside certain values of others only. */
export const beside: readonly Field[] = [
  ...rows(['Agent'], 'spec.instructions', { text: [filled] }),
  ...rows(['Agent'], 'spec.model', { provider: [filled, REQUIRED], base_url: [filled] }),
  ...rows(['Agent'], 'spec.model.parameters', { top_p: [number] }),
  ...rows(['Agent'], 'spec.mcp_servers.0.auth', { header: [filled] }),
]

const identity = { name: 'desk', namespace: 'acme', version: '1.0.0', labels: { team: 'claims' } }

/** A document of each kind with every field that may stand beside the others. */
export const full: Readonly<Record<DocumentKind, JsonValue>> = {
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
export const closed: readonly { readonly kind: DocumentKind; readonly path: Field['path'] }[] = [
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

/** Providers that are reached at an address of their own; the second name is that of the real world. */
const COMPATIBLE = ['vendor_b-compatible', 'openai-compatible']

/** What the format says of several fields together. */
function areTogether(document: JsonValue): boolean {
  const [instructions, model] = [at(document, ['spec', 'instructions']), at(document, ['spec', 'model'])]
  if (isMapping(instructions) && 'ref' in instructions === 'text' in instructions) return false
  if (isMapping(model)) {
    if (COMPATIBLE.some((each) => each === model['provider']) !== 'base_url' in model) return false
    const parameters = model['parameters']
    if (isMapping(parameters) && 'temperature' in parameters && 'top_p' in parameters) return false
  }
  const servers = at(document, ['spec', 'mcp_servers'])
  return (
    !Array.isArray(servers) ||
    servers.every((server) => {
      const auth = at(server, ['auth'])
      return !isMapping(auth) || auth['scheme'] !== 'header' || 'header' in auth
    })
  )
}

/** The verdict of the tables on any value, worked out from them alone. */
export function allows(kind: DocumentKind, document: JsonValue): boolean {
  const own = [...fields, ...beside].filter((field) => field.kind === kind)
  const isAt = (field: Field, path: Path): boolean => path.every((key, index) => field.path[index] === key)
  const visit = (path: Path, value: JsonValue): boolean => {
    const below = own.filter((field) => field.path.length > path.length && isAt(field, path))
    const row = own.find((field) => field.path.length === path.length && isAt(field, path))
    if (row !== undefined && !row.accepts(value)) return false
    if (below.length === 0) return true
    const keys = [...new Set(below.map((field) => field.path[path.length]!))]
    // Every item of a list is as the one of the tables, and so is every secret.
    if (keys[0] === 0) return isListOf(value, (item) => visit([...path, 0], item))
    if (!isMapping(value)) return false
    if (path[0] === 'secrets' && path.length === 1)
      return Object.entries(value).every(([name, each]) => SECRET_NAME.test(name) && visit([...path, keys[0]!], each))
    const required = below.filter((field) => field.required && field.path.length === path.length + 1)
    return (
      Object.keys(value).every((key) => keys.includes(key)) &&
      required.every((field) => isInstead(field) || Object.hasOwn(value, field.path.at(-1)!)) &&
      Object.entries(value).every(([key, each]) => visit([...path, key], each))
    )
  }
  return visit([], document) && (kind !== 'Agent' || areTogether(document))
}

/** True for what is required in the full document because nothing stands in its place there. */
const isInstead = ({ kind, path }: Field): boolean => kind === 'Agent' && path.join('.') === 'spec.instructions.ref'
