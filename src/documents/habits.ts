/** What authors of other formats write, and what says the same here. */
import { isJsonObject, type JsonValue } from '../base/json.ts'
import { diagnostic, type Diagnostic, type Edit } from './diagnostic.ts'
import type { Spans } from './document.ts'
import { inWords, segmentsOf } from './pointer.ts'
import { nodeAt } from './removal.ts'
import { brokenAs } from './source.ts'

interface Habit {
  /** Path of the mapping in which the key is written, `*` for an index. */
  readonly at: string
  readonly keys: readonly string[]
  readonly say: string
  /** Key of the same mapping that was meant, so that it is not missed as well. */
  readonly meant?: string
  /** True where the key that was meant takes the same value. */
  readonly rename?: true
  /** The kinds of which it is said; absent = Agent. */
  readonly of?: readonly string[]
  /** True for a key that the format forbids by name. */
  readonly forbidden?: true
}

const HABITS: readonly Habit[] = [
  {
    at: 'spec.tools.*',
    keys: ['name'],
    say: 'The tool is named by `ref`; the name shown to the model is `as`.',
    meant: 'ref',
    forbidden: true,
  },
  {
    at: 'spec.tools.*',
    keys: ['version'],
    say: 'The version is pinned in `ref`: `namespace.name@1.0.0`.',
    forbidden: true,
  },
  {
    at: 'spec.tools.*',
    keys: ['parameters'],
    say: 'The arguments are described by `input_schema`.',
    forbidden: true,
  },
  { at: 'spec.tools.*', keys: ['policy'], say: 'Policies are listed in `policies`.', forbidden: true },
  { at: 'spec.tools.*', keys: ['agent'], say: 'A sub-agent is bound under `spec.agents`.', forbidden: true },
  {
    at: 'spec',
    keys: ['prompt', 'system_prompt', 'system', 'systemPrompt'],
    say: 'The system prompt is `instructions: { text: … }`, or a file: `instructions: { ref: prompts/NAME.md }`.',
    meant: 'instructions',
  },
  {
    at: 'spec',
    keys: ['max_tokens', 'maxTokens'],
    say: '`limits.max_tokens_per_run` caps a whole run, `model.parameters.max_output_tokens` one answer.',
  },
  {
    at: 'spec',
    keys: ['max_iterations', 'max_steps', 'max_turns'],
    say: 'The number of steps is capped by `limits.max_loop_iterations`.',
  },
  { at: 'spec', keys: ['policies'], say: 'Policies of a whole agent are listed in `default_policies`.' },
  {
    at: 'spec.model',
    keys: ['api_key', 'apiKey', 'key', 'token'],
    say: 'A key is never written in a document: declare it under `secrets`, and name it in `model.secret`.',
  },
  {
    at: 'spec.model',
    keys: ['max_tokens', 'maxTokens'],
    say: 'One answer is capped by `parameters.max_output_tokens`.',
  },
  { at: 'spec.model', keys: ['model', 'id'], say: 'The model is named by `name`.', meant: 'name', rename: true },
  {
    at: 'spec.model.parameters',
    keys: ['max_tokens', 'maxTokens', 'max_completion_tokens'],
    say: 'One answer is capped by `max_output_tokens`.',
    meant: 'max_output_tokens',
    rename: true,
  },
  {
    at: 'spec.model.parameters',
    keys: ['stop'],
    say: 'The texts are listed in `stop_sequences`.',
    meant: 'stop_sequences',
    rename: true,
  },
  {
    at: 'spec',
    of: ['tool'],
    keys: ['parameters', 'input', 'inputs', 'arguments', 'schema'],
    say: 'The arguments are described by `input_schema`: `{ inline: … }`, or a file: `{ ref: schemas/NAME.json }`.',
    meant: 'input_schema',
  },
  {
    at: 'spec',
    of: ['tool'],
    keys: ['url', 'endpoint', 'http', 'command', 'mcp', 'server', 'transport', 'route'],
    say: 'A tool contract does not say where the tool runs: that stands in svc.config.yaml under `tools`, or in `mcp` of the binding.',
  },
  {
    at: 'metadata',
    of: ['tool', 'policy', 'bundle'],
    keys: ['annotations', 'owner', 'governance'],
    say: 'Only an Agent has it; `labels` describe every document.',
  },
  {
    at: 'spec.decision.timeout',
    of: ['policy'],
    keys: ['minutes'],
    say: 'The time is given by `after_minutes`.',
    meant: 'after_minutes',
    rename: true,
  },
  {
    at: 'spec.decision.timeout',
    of: ['policy'],
    keys: ['action', 'then', 'decision'],
    say: 'What happens then is said by `default`.',
    meant: 'default',
    rename: true,
  },
  {
    at: 'spec',
    of: ['bundle'],
    keys: ['agent', 'main', 'entry', 'entrypoint'],
    say: 'The root Agent is named by `root`.',
    meant: 'root',
    rename: true,
  },
  {
    at: 'spec',
    of: ['bundle'],
    keys: ['agents', 'documents', 'members', 'files', 'include'],
    say: 'A bundle is the directory of its document; only the root Agent is named: `root: agents/NAME.yaml`.',
    meant: 'root',
  },
]

/** What is known of a key that stands in a mapping where it does not belong. */
export function habitAt(schema: string, parent: string, key: string): Habit | undefined {
  const place = segmentsOf(parent)
    .map((segment) => (/^\d+$/.test(segment) ? '*' : segment))
    .join('.')
  return HABITS.find(({ at, of = ['agent'], keys }) => of.includes(schema) && at === place && keys.includes(key))
}

const SCHEMA_SPEC = /\/(?:input_schema|output_schema)$|^\/output\/schema$/
const SCHEMA_WORDS = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  '$ref',
  '$schema',
  'oneOf',
  'anyOf',
  'allOf',
]

/** A JSON Schema that is written where a schema spec belongs: one finding for all of its keys. */
export function bareSchema(file: Spans, pointer: string, value: JsonValue | undefined): Diagnostic | undefined {
  if (!SCHEMA_SPEC.test(pointer) || !isJsonObject(value) || 'ref' in value || 'inline' in value) return undefined
  if (!SCHEMA_WORDS.some((word) => Object.hasOwn(value, word))) return undefined
  return diagnostic(
    'doc/misplaced-key',
    'error',
    { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(pointer).range },
    `${inWords(pointer)} holds a JSON Schema itself, which belongs under \`inline\`.`,
    { fix: { description: 'Put it under `inline`.', edits: wrapped(file, pointer, 'inline') } },
  )
}

/** Keys under which a text stands where a mapping is wanted. */
const WRAPPED: readonly (readonly [RegExp, string])[] = [
  [/^\/spec\/instructions$/, 'text'],
  [/^\/spec\/(?:tools|agents)\/\d+$/, 'ref'],
  [SCHEMA_SPEC, 'ref'],
  [/^\/secrets\/[^/]+$/, 'fromEnv'],
  [/^\/spec\/decision$/, 'type'],
]

/** The key under which a text was surely meant to stand; undefined where nobody can tell. */
export const wrapperOf = (pointer: string, text: string): string | undefined =>
  text.trim() === '' ? undefined : WRAPPED.find(([at]) => at.test(pointer))?.[1]

/** Edits that put the value at a pointer under a key of a new mapping. */
export function wrapped({ source, root }: Spans, pointer: string, key: string): Edit[] {
  const node = nodeAt(root, segmentsOf(pointer))
  if (node === undefined || node.alias) return []
  const { text, path } = source
  const put = (at: number, written: string): Edit => ({
    path,
    range: source.span(at, at),
    text: brokenAs(source, written),
  })
  const name = path.endsWith('.json') ? JSON.stringify(key) : key
  const isBlock = node.members !== undefined && text[node.start] !== '{'
  if (!isBlock) {
    // A text over several lines, or without quotes and with marks of flow style in it, would need another form.
    const written = text.slice(node.start, node.end)
    if (written.includes('\n') || (node.plain && /[,[\]{}#:]/.test(written)) || /^[|>&*!]/.test(written)) return []
    return [put(node.start, `{ ${name}: `), put(node.end, ' }')]
  }
  const indent = node.start - (text.lastIndexOf('\n', node.start - 1) + 1)
  const edits = [put(node.start, `${name}:\n${' '.repeat(indent + 2)}`)]
  for (let at = text.indexOf('\n', node.start); at >= 0 && at < node.end - 1; at = text.indexOf('\n', at + 1))
    if (!/^\s*(?:\n|$)/.test(text.slice(at + 1, text.indexOf('\n', at + 1) + 1 || undefined)))
      edits.push(put(at + 1, '  '))
  return edits
}
