/**
 * Checks values against JSON Schemas that others wrote. A schema is measured before it is compiled, since a small one can ask
 * for exponential work, and what may backtrack or recurse runs under a time limit. Source: security, S11 to S13.
 */
import { createContext, Script } from 'node:vm'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { digestOfJson } from '../base/digest.ts'
import type { Detail } from '../base/failure.ts'
import type { JsonObject } from '../base/json.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { measureSchema } from './schema-size.ts'

/**
 * What is wrong with a value, at most 20 places: a JSON pointer into it and a sentence part. Empty = valid.
 * A schema that cannot be compiled, or that takes too long, is itself a finding: what cannot be checked is never valid.
 */
export function checkValue(schema: JsonSchema, value: unknown): readonly Detail[] {
  if (schema === true) return []
  const compiled = compile(schema)
  if ('problem' in compiled) return [{ path: '', message: `cannot be checked: ${compiled.problem}` }]
  const { validate, guarded } = compiled
  try {
    const valid = guarded ? within(VALIDATE_MS, () => validate(value)) : validate(value)
    return valid ? [] : (validate.errors ?? []).slice(0, MAX_FINDINGS).map(toDetail)
  } catch (error) {
    return [
      { path: '', message: `cannot be checked: ${isTimeout(error) ? 'the schema takes too long' : whyOf(error)}` },
    ]
  }
}

/** Why a schema cannot be used to check anything; undefined when it can. */
export function checkSchema(schema: JsonSchema): string | undefined {
  if (schema === true) return undefined
  const compiled = compile(schema)
  return 'problem' in compiled ? compiled.problem : undefined
}

const MAX_FINDINGS = 20
/** Bound on one guarded check: far above what an honest schema takes, far below what an attack needs. */
const VALIDATE_MS = 250
const COMPILE_MS = 2000
/** Compiled schemas kept; each is some 10 to 50 KB. */
const MAX_CACHED = 500

type Compiled = { readonly validate: ValidateFunction; readonly guarded: boolean } | { readonly problem: string }

const bySchema = new WeakMap<object, Compiled>()
const byDigest = new Map<string, Compiled>()

function compile(schema: JsonSchema): Compiled {
  if (typeof schema === 'boolean') return compileNew(schema, false)
  // Snapshots keep their schema objects, so the digest is mostly not needed.
  const known = bySchema.get(schema)
  if (known) return known
  const compiled = compileByDigest(schema)
  bySchema.set(schema, compiled)
  return compiled
}

function compileByDigest(schema: JsonObject): Compiled {
  // Measured first: the digest of a bottomless value would overflow the stack.
  const size = measureSchema(schema)
  if ('problem' in size) return size
  const digest = digestOfJson(schema)
  const known = byDigest.get(digest)
  if (known) return known
  const compiled = compileNew(schema, size.risky)
  if (byDigest.size >= MAX_CACHED) byDigest.delete(byDigest.keys().next().value!)
  byDigest.set(digest, compiled)
  return compiled
}

function compileNew(schema: JsonSchema, guarded: boolean): Compiled {
  const dialect = dialectOf(schema)
  if (!dialect) return { problem: 'its $schema names a dialect that is not known' }
  try {
    const invalid = dialect.invalid(schema)
    if (invalid !== undefined) return { problem: invalid }
    return { validate: within(COMPILE_MS, () => dialect.create().compile(schema as object)), guarded }
  } catch (error) {
    return { problem: isTimeout(error) ? 'the schema takes too long to compile' : whyOf(error) }
  }
}

interface Dialect {
  /** What is wrong with the schema by its dialect's own schema. */
  invalid(schema: JsonSchema): string | undefined
  /** A compiler of its own for each schema: two schemas may carry the same `$id`, and ajv keeps what it has seen for ever. */
  create(): Ajv
}

/** JSON Schema 2020-12 unless `$schema` names an older draft, as MCP servers in the field do. */
function dialectOf(schema: JsonSchema): Dialect | undefined {
  const named = typeof schema === 'object' ? schema['$schema'] : undefined
  if (typeof named !== 'string') return DRAFT_2020
  return DIALECTS.find(([pattern]) => pattern.test(named))?.[1]
}

const OPTIONS = { allErrors: true, strict: false, logger: false } as const

function dialect(
  meta: string,
  Compiler: new (options: typeof OPTIONS & { meta: boolean; validateSchema: boolean }) => Ajv,
): Dialect {
  let checker: Ajv | undefined
  return {
    invalid(schema) {
      checker ??= new Compiler({ ...OPTIONS, meta: true, validateSchema: false })
      if (checker.validate(meta, schema)) return undefined
      return `the schema is invalid: ${checker.errorsText(checker.errors?.slice(0, 3), { dataVar: 'schema' })}`
    },
    create() {
      const ajv = new Compiler({ ...OPTIONS, meta: false, validateSchema: false })
      // The package is CommonJS whose types know only its default export.
      const add = formats as unknown as { default?: (ajv: Ajv) => void } & ((ajv: Ajv) => void)
      ;(add.default ?? add)(ajv)
      return ajv
    },
  }
}

const DRAFT_2020 = dialect('https://json-schema.org/draft/2020-12/schema', Ajv2020)
const DIALECTS: readonly (readonly [RegExp, Dialect])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, DRAFT_2020],
  [
    /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/,
    dialect('https://json-schema.org/draft/2019-09/schema', Ajv2019),
  ],
  [/^https?:\/\/json-schema\.org\/(?:draft-0[67]\/)?schema#?$/, dialect('http://json-schema.org/draft-07/schema', Ajv)],
]

/** Points at the place a person would mend, and says it without ajv's words. */
function toDetail(error: ErrorObject): Detail {
  const { keyword, instancePath, params } = error
  const at = (property: unknown): string =>
    `${instancePath}/${String(property).replaceAll('~', '~0').replaceAll('/', '~1')}`
  if (keyword === 'required') return { path: at(params['missingProperty']), message: 'is required' }
  if (keyword === 'additionalProperties') return { path: at(params['additionalProperty']), message: 'is not allowed' }
  if (keyword === 'unevaluatedProperties') return { path: at(params['unevaluatedProperty']), message: 'is not allowed' }
  if (keyword === 'enum') {
    const allowed = (params['allowedValues'] as unknown[]).map((each) => JSON.stringify(each))
    return {
      path: instancePath,
      message: `must be one of ${allowed.slice(0, 20).join(', ')}${allowed.length > 20 ? ', …' : ''}`,
    }
  }
  if (keyword === 'const') return { path: instancePath, message: `must be ${JSON.stringify(params['allowedValue'])}` }
  if (keyword === 'false schema') return { path: instancePath, message: 'is not allowed' }
  return { path: instancePath, message: error.message ?? `fails ${keyword}` }
}

let sandbox: { context: { work?: () => unknown }; script: Script } | undefined

/** Runs synchronous work that is stopped after `timeout` milliseconds. */
function within<T>(timeout: number, work: () => T): T {
  sandbox ??= { context: createContext({}), script: new Script('work()') }
  sandbox.context.work = work
  try {
    return sandbox.script.runInContext(sandbox.context, { timeout }) as T
  } finally {
    delete sandbox.context.work
  }
}

const isTimeout = (error: unknown): boolean => (error as { code?: unknown })?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
// Errors of the sandbox (a stack that overflows) belong to another realm, so `instanceof` would miss them.
const whyOf = (error: unknown): string => String((error as { message?: unknown })?.message ?? error).slice(0, 300)
