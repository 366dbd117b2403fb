/** What authors of other formats write, and what says the same here. */
import { isJsonObject, type JsonValue } from '../../base/json.ts'
import { createFinding, type Diagnostic, type TextEdit } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { inWords, segmentsOf } from '../text/pointer.ts'
import { nodeAt } from '../edit/removal.ts'
import { brokenAs } from '../text/source.ts'

interface Habit {
  /** Path of the mapping in which the key is written, `*` for an index and for the name of a secret. */
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
  {
    at: 'secrets.*',
    keys: ['env', 'from_env', 'fromenv', 'environment', 'variable', 'var', 'env_var'],
    say: 'The environment variable is named by `fromEnv`.',
    meant: 'fromEnv',
    rename: true,
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
    .map((segment, index, all) => (/^\d+$/.test(segment) || all[index - 1] === 'secrets' ? '*' : segment))
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
export function bareSchema(file: DocumentSpans, pointer: string, value: JsonValue | undefined): Diagnostic | undefined {
  if (!SCHEMA_SPEC.test(pointer) || !isJsonObject(value) || 'ref' in value || 'inline' in value) return undefined
  if (!SCHEMA_WORDS.some((word) => Object.hasOwn(value, word))) return undefined
  return createFinding(
    'doc/misplaced-key',
    'error',
    { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(pointer).range },
    `${inWords(pointer)} holds a JSON Schema itself, which belongs under \`inline\`.`,
    { fix: { description: 'Put it under `inline`.', edits: wrapValueEdits(file, pointer, 'inline') } },
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

interface RewrittenText {
  /** In flow style of YAML. */
  readonly text: string
  readonly description: string
  readonly unsafe?: true
}

/** What says the same as a text that stands where a mapping or a number is wanted: a comparison, or a time. */
export function rewrittenText(pointer: string, written: string): RewrittenText | undefined {
  if (pointer === '/spec/conditions' || /^\/spec\/conditions(?:\/(?:all|any)\/\d+|\/not)+$/.test(pointer)) {
    const leaf = comparisonIn(written)
    return leaf === undefined ? undefined : { text: leaf, description: `Write ${leaf}.` }
  }
  const minutes = minutesIn(written)
  if (minutes === undefined) return undefined
  if (pointer === '/spec/decision/timeout') {
    const text = `{after_minutes: ${minutes}, default: deny}`
    // What happens then was not said.
    return { text, description: `Write ${text}.`, unsafe: true }
  }
  return pointer === '/spec/decision/timeout/after_minutes'
    ? { text: String(minutes), description: `Write ${minutes}.` }
    : undefined
}

const COMPARISON = /^([a-z]+(?:\.[\w-]+)+) *(==|!=|>=|<=|>|<|(?: (?:eq|ne|gte|gt|lte|lt) )) *(.+)$/
const OPERATOR_WORDS: Readonly<Record<string, string>> = {
  '==': 'eq',
  '!=': 'ne',
  '>': 'gt',
  '>=': 'gte',
  '<': 'lt',
  '<=': 'lte',
}

/** A leaf for `args.amount > 100`; undefined for more than one comparison, and for what is none. */
function comparisonIn(text: string): string | undefined {
  const [, field, written, value] = COMPARISON.exec(text.trim()) ?? []
  if (field === undefined || written === undefined || value === undefined) return undefined
  const isLiteral = /^(?:-?\d{1,15}(?:\.\d+)?|true|false|"[^"\\]*"|'[^'\\]*'|[A-Za-z_]\w*)$/.test(value)
  const op = OPERATOR_WORDS[written] ?? written.trim()
  return isLiteral ? `{field: ${field}, op: ${op}, value: ${value}}` : undefined
}

/** `30m`, `2 hours`, `1d`, in minutes. */
function minutesIn(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5}) ?(m|min|minutes?|h|hours?|d|days?)$/.exec(text.trim()) ?? []
  return count === undefined || unit === undefined
    ? undefined
    : Number(count) * (unit.startsWith('m') ? 1 : unit.startsWith('h') ? 60 : 24 * 60)
}

/**
 * The pattern in `/^DE$/`, as other languages write it; undefined where the slashes may be meant, as in a path: nothing can
 * stand before `^` or behind `$`.
 */
export function withoutSlashes(pattern: string): string | undefined {
  const [, inside, flags] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? []
  if (inside === undefined || !(inside.startsWith('^') || /(?:^|[^\\])\$$/.test(inside))) return undefined
  return flags?.includes('i') ? `(?i)${inside}` : inside
}

/** The environment variable of which a shell would put in the value: `$NAME`, `${NAME}`. */
export const variableIn = (text: string): string | undefined =>
  /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/
    .exec(text.trim())
    ?.slice(1)
    .find((name) => name !== undefined)

/** Edits that put the value at a pointer under a key of a new mapping. */
export function wrapValueEdits({ source, root }: DocumentSpans, pointer: string, key: string): TextEdit[] {
  const node = nodeAt(root, segmentsOf(pointer))
  if (node === undefined || node.alias) return []
  const { text, path } = source
  const put = (at: number, written: string): TextEdit => ({
    path,
    range: source.span(at, at),
    text: brokenAs(source, written),
  })
  const name = path.endsWith('.json') ? JSON.stringify(key) : key
  const isBlock = node.members !== undefined && text[node.start] !== '{'
  if (!isBlock) {
    const variable = key === 'fromEnv' && typeof node.value === 'string' ? variableIn(node.value) : undefined
    if (variable !== undefined) {
      const meant = `{ ${name}: ${path.endsWith('.json') ? JSON.stringify(variable) : variable} }`
      return [{ path, range: source.span(node.start, node.end), text: meant }]
    }
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
