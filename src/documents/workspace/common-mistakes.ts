/** Keys and values that authors of other formats write, and the key or value that means the same here. */
import { segmentsOf } from '../../base/json/pointer.ts'

interface CommonMistake {
  /** Path of the mapping in which the key is written, `*` for an index and for the name of a secret. */
  readonly at: string
  readonly keys: readonly string[]
  /** The fix, as the author reads it. */
  readonly hint: string
  /** Key of the same mapping that was meant; it is then not reported as missing. */
  readonly meant?: string
  /** True where the key that was meant takes the same value. */
  readonly rename?: true
  /** Document kinds, in lower case; absent = `agent`. */
  readonly of?: readonly string[]
  /** True for a key that the format forbids by name. */
  readonly forbidden?: true
}

const COMMON_MISTAKES: readonly CommonMistake[] = [
  {
    at: 'spec.tools.*',
    keys: ['name'],
    hint: 'The tool is named by `ref`; the name shown to the model is `as`.',
    meant: 'ref',
    forbidden: true,
  },
  {
    at: 'spec.tools.*',
    keys: ['version'],
    hint: 'The version is pinned in `ref`: `namespace.name@1.0.0`.',
    forbidden: true,
  },
  {
    at: 'spec.tools.*',
    keys: ['parameters'],
    hint: 'The arguments are described by `input_schema`.',
    forbidden: true,
  },
  { at: 'spec.tools.*', keys: ['policy'], hint: 'Policies are listed in `policies`.', forbidden: true },
  { at: 'spec.tools.*', keys: ['agent'], hint: 'A sub-agent is bound under `spec.agents`.', forbidden: true },
  {
    at: 'spec',
    keys: ['prompt', 'system_prompt', 'system', 'systemPrompt'],
    hint: 'The system prompt is `instructions: { text: … }`, or a file: `instructions: { ref: prompts/NAME.md }`.',
    meant: 'instructions',
  },
  {
    at: 'spec',
    keys: ['max_tokens', 'maxTokens'],
    hint: '`limits.max_tokens_per_run` caps a whole run, `model.parameters.max_output_tokens` one answer.',
  },
  {
    at: 'spec',
    keys: ['max_iterations', 'max_steps', 'max_turns'],
    hint: 'The number of steps is capped by `limits.max_loop_iterations`.',
  },
  {
    at: 'spec',
    keys: ['when', 'condition', 'if'],
    hint: 'Conditions go under `conditions`: `conditions: {when: args.amount > 100}`.',
    of: ['policy'],
  },
  {
    at: 'spec.instructions',
    keys: ['inline', 'content', 'prompt', 'value'],
    hint: 'The instructions stand in `text`, or in the file that `ref` names.',
    meant: 'text',
    rename: true,
  },
  {
    at: 'spec.instructions',
    keys: ['file', 'path'],
    hint: 'The file is named by `ref`.',
    meant: 'ref',
    rename: true,
  },
  { at: 'spec', keys: ['policies'], hint: 'Policies of a whole agent are listed in `default_policies`.' },
  {
    at: 'spec.model',
    keys: ['api_key', 'apiKey', 'key', 'token'],
    hint: 'A key is never written in a document: declare it under `secrets`, and name it in `model.secret`.',
  },
  {
    at: 'spec.model',
    keys: ['max_tokens', 'maxTokens'],
    hint: 'One answer is capped by `parameters.max_output_tokens`.',
  },
  {
    at: 'secrets.*',
    keys: ['env', 'from_env', 'fromenv', 'environment', 'variable', 'var', 'env_var'],
    hint: 'The environment variable is named by `fromEnv`.',
    meant: 'fromEnv',
    rename: true,
  },
  { at: 'spec.model', keys: ['model', 'id'], hint: 'The model is named by `name`.', meant: 'name', rename: true },
  {
    at: 'spec.model.parameters',
    keys: ['max_tokens', 'maxTokens', 'max_completion_tokens'],
    hint: 'One answer is capped by `max_output_tokens`.',
    meant: 'max_output_tokens',
    rename: true,
  },
  {
    at: 'spec.model.parameters',
    keys: ['stop'],
    hint: 'The texts are listed in `stop_sequences`.',
    meant: 'stop_sequences',
    rename: true,
  },
  {
    at: 'spec',
    of: ['tool'],
    keys: ['parameters', 'input', 'inputs', 'arguments', 'schema'],
    hint: 'The arguments are described by `input_schema`: `{ inline: … }`, or a file: `{ ref: schemas/NAME.json }`.',
    meant: 'input_schema',
  },
  {
    at: 'spec',
    of: ['tool'],
    keys: ['url', 'endpoint', 'http', 'command', 'mcp', 'server', 'transport', 'route'],
    hint: 'A tool contract does not say where the tool runs: that stands in svc.config.yaml under `tools`, or in `mcp` of the binding.',
  },
  {
    at: 'metadata',
    of: ['tool', 'policy', 'bundle'],
    keys: ['annotations', 'owner', 'governance'],
    hint: 'Only an Agent has it; `labels` describe every document.',
  },
  {
    at: 'spec.decision.timeout',
    of: ['policy'],
    keys: ['minutes'],
    hint: 'The time is given by `after_minutes`.',
    meant: 'after_minutes',
    rename: true,
  },
  {
    at: 'spec.decision.timeout',
    of: ['policy'],
    keys: ['action', 'then', 'decision'],
    hint: '`default` sets what happens then.',
    meant: 'default',
    rename: true,
  },
  {
    at: 'spec',
    of: ['bundle'],
    keys: ['agent', 'main', 'entry', 'entrypoint'],
    hint: 'The root Agent is named by `root`.',
    meant: 'root',
    rename: true,
  },
  {
    at: 'spec',
    of: ['bundle'],
    keys: ['agents', 'documents', 'members', 'files', 'include'],
    hint: 'A bundle is the directory of its document; only the root Agent is named: `root: agents/NAME.yaml`.',
    meant: 'root',
  },
]

/** The mistake behind a key that its mapping does not know; undefined where it is none of these. */
export function commonMistakeAt(schema: string, parent: string, key: string): CommonMistake | undefined {
  const place = segmentsOf(parent)
    .map((segment, index, all) => (/^\d+$/.test(segment) || all[index - 1] === 'secrets' ? '*' : segment))
    .join('.')
  return COMMON_MISTAKES.find(
    ({ at, of = ['agent'], keys }) => of.includes(schema) && at === place && keys.includes(key),
  )
}

/**
 * The pattern in `/^DE$/`, as other languages write it; undefined if the slashes may be part of it, as in a path. A
 * pattern with text before `^` or after `$` never matches.
 */
export function withoutSlashes(pattern: string): string | undefined {
  const [, inside, flags] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? []
  if (inside === undefined || !(inside.startsWith('^') || /(?:^|[^\\])\$$/.test(inside))) return undefined
  return flags?.includes('i') ? `(?i)${inside}` : inside
}

/** The environment variable that a shell would expand: `$NAME`, `${NAME}`. */
export const variableIn = (text: string): string | undefined =>
  /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/
    .exec(text.trim())
    ?.slice(1)
    .find((name) => name !== undefined)
