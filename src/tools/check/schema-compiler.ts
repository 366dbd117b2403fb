/**
 * Compiles untrusted JSON Schemas, each once, and checks values with them in bounded time.
 * Source: docs/design/security.md#foreign-values
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { shortenText } from '../../base/text/cut-text.ts'
import { digestOfJson } from '../../base/digest.ts'
import type { InvalidPlace } from '../../base/failure.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { CpuTimeExceeded, withinCpuTime } from './cpu-time.ts'
import { measureSchema, type SchemaSize } from './schema-size.ts'
import { addUniqueItems } from './unique-items.ts'
import { measureValue } from './value-size.ts'
import { validate as validateMetaSchema } from '../generated/meta-schema.js'
import { dropOldest } from '../../base/values/collections.ts'

/** A schema that is small enough to use, or why it is not. It is compiled at its first check. */
export type UsableSchema = SizedSchema | { readonly problem: string }

/** Most places of a value that one check reports. */
const MAX_FINDINGS = 20
/** CPU time of one check: far more than an honest check takes, far less than an attack needs. */
const CHECK_CPU_MS = 60
/**
 * CPU time of compiling, which happens once, in the thread. A schema at the limits of `schema-size.ts` takes 0.5 s, and twice that where
 * others use the same processors: what can be checked must not depend on them.
 */
const COMPILE_CPU_MS = 3000
/** Up to this product of schema and value a check reports every error; above it, only the first. */
const MAX_WORK_FOR_ALL = 20_000
/** A check of at most this work takes 1 to 3 ms and runs without a time limit. */
const MAX_EASY_WORK = 50_000
/** A schema with more nodes takes 10 ms or more to compile. */
const MAX_WORK_TO_COMPILE = 100
/** Compiled schemas in memory, each about 10 to 50 KB. */
const MAX_CACHED = 500

const bySchema = new WeakMap<object, UsableSchema>()
const byDigest = new Map<string, UsableSchema>()

export function usableSchema(schema: JsonSchema): UsableSchema {
  if (typeof schema === 'boolean') return new SizedSchema(schema, TRIVIAL, String(schema))
  // Snapshots reuse their schema objects, so this usually finds the schema without computing a digest.
  const known = bySchema.get(schema)
  if (known) return known
  const usable = findByContent(schema)
  bySchema.set(schema, usable)
  return usable
}

const TRIVIAL: SchemaSize = { work: 1, recursive: false, growth: undefined }

function findByContent(schema: JsonObject): UsableSchema {
  // Measured first: the digest of an extremely deep value would overflow the stack.
  const size = measureSchema(schema)
  if ('problem' in size) return size
  const digest = digestOfJson(schema)
  const known = byDigest.get(digest)
  if (known) return known
  const usable = new SizedSchema(schema, size, digest)
  byDigest.set(digest, usable)
  dropOldest(byDigest, MAX_CACHED)
  return usable
}

type CompiledSchema =
  | { readonly first: ValidateFunction; all?: ValidateFunction }
  /** Why it cannot be compiled. */
  | { readonly problem: string }

export class SizedSchema {
  readonly schema: JsonSchema
  readonly size: SchemaSize
  /** Equal for schemas with equal content. */
  readonly digest: string
  #compiled: CompiledSchema | undefined

  constructor(schema: JsonSchema, size: SchemaSize, digest: string) {
    this.schema = schema
    this.size = size
    this.digest = digest
  }

  /** True when a check of the value may block the event loop for too long. */
  mayBeLong(value: unknown): boolean {
    return this.#needsLongCompile() || this.#isHard(value)
  }

  #needsLongCompile(): boolean {
    return this.#compiled === undefined && this.size.work > MAX_WORK_TO_COMPILE
  }

  #isHard(value: unknown): boolean {
    return this.size.recursive || measureValue(value, this.size, MAX_EASY_WORK).exceeds
  }

  /** Why the schema cannot be compiled; undefined when it can. */
  compileProblem(): string | undefined {
    const compiled = this.#compile()
    return 'problem' in compiled ? compiled.problem : undefined
  }

  /** The faults in a value, within the limits on time and on the number of findings. */
  check(value: unknown): readonly InvalidPlace[] {
    const compiled = this.#compile()
    if ('problem' in compiled) return [uncheckable(compiled.problem)]
    const within = this.#isHard(value) ? <T>(work: () => T): T => withinCpuTime(CHECK_CPU_MS, work) : runUnlimited
    try {
      // Stops at the first error, because collecting all of them could take memory for millions.
      if (within(() => compiled.first(value))) return []
    } catch (error) {
      return [uncheckable(error instanceof CpuTimeExceeded ? `the check ${error.message}` : messageOf(error))]
    }
    const first = toDetails(compiled.first.errors)
    if (measureValue(value, this.size, MAX_WORK_FOR_ALL).exceeds) return first
    try {
      const all = (compiled.all ??= compileWith(this.schema, { allErrors: true }))
      within(() => all(value))
      return toDetails(all.errors)
    } catch {
      return first
    }
  }

  #compile(): CompiledSchema {
    if (this.#compiled) return this.#compiled
    try {
      const problem = findInvalidity(this.schema)
      this.#compiled = problem === undefined ? { first: compileWith(this.schema, { allErrors: false }) } : { problem }
    } catch (error) {
      const problem = error instanceof CpuTimeExceeded ? `compiling the schema ${error.message}` : messageOf(error)
      this.#compiled = { problem }
    }
    return this.#compiled
  }
}

const runUnlimited = <T>(work: () => T): T => work()

export const uncheckable = (problem: string): InvalidPlace => ({ path: '', message: `cannot be checked: ${problem}` })

function findInvalidity(schema: JsonSchema): string | undefined {
  const dialect = dialectOf(schema)
  return dialect ? dialect.invalid(schema) : 'its $schema names a dialect that is not known'
}

/** The first place that the meta-schema refuses, and why; undefined for a valid schema. */
export const findInvalidKeyword = (
  schema: JsonSchema,
): { readonly pointer: string; readonly message: string } | undefined =>
  (dialectOf(schema) ?? DRAFT_2020).invalidKeyword(schema)

/** True for a `$schema` that can be compiled. */
export const isKnownDialect = (named: unknown): boolean =>
  typeof named === 'string' && dialectOf({ $schema: named }) !== undefined

const compileWith = (schema: JsonSchema, options: { allErrors: boolean }): ValidateFunction =>
  withinCpuTime(COMPILE_CPU_MS, () =>
    dialectOf(schema)!
      .create(options)
      .compile(schema as object),
  )

interface Dialect {
  /** Why the schema is invalid by the meta-schema of its dialect; undefined when it is valid. */
  invalid(schema: JsonSchema): string | undefined
  /** The place of it. */
  invalidKeyword(schema: JsonSchema): { readonly pointer: string; readonly message: string } | undefined
  /** Creates a compiler for one schema: two schemas may have the same `$id`, and ajv never forgets a schema. */
  create(options: { readonly allErrors: boolean }): Ajv
}

/** JSON Schema 2020-12 unless `$schema` names an older draft, as some MCP servers do. */
function dialectOf(schema: JsonSchema): Dialect | undefined {
  const named = typeof schema === 'object' ? schema['$schema'] : undefined
  if (typeof named !== 'string') return DRAFT_2020
  return DIALECTS.find(([pattern]) => pattern.test(named))?.[1]
}

const OPTIONS = { strict: false, logger: false, validateSchema: false } as const

type Compiler = new (options: typeof OPTIONS & { meta: boolean; allErrors: boolean }) => Ajv
type Validate = typeof validateMetaSchema

/** The meta-schema of an older draft, compiled at its first use: that takes 70 ms. */
function metaSchema(name: string, Compiler: Compiler): () => Validate {
  let validate: Validate | undefined
  return () => (validate ??= new Compiler({ ...OPTIONS, meta: true, allErrors: false }).getSchema(name) as Validate)
}

function dialect(meta: () => Validate, Compiler: Compiler): Dialect {
  const errorsOf = (schema: JsonSchema): readonly ErrorObject[] | undefined => {
    // Compiled outside the time limit: the meta-schema is trusted, and an interrupted compiler cannot be used again.
    const isValid = meta()
    return withinCpuTime(CHECK_CPU_MS, () => isValid(schema)) ? undefined : (isValid.errors ?? [])
  }
  return {
    invalid(schema) {
      const errors = errorsOf(schema)?.map(({ instancePath, message }) => `schema${instancePath} ${message}`)
      return errors && `the schema is invalid: ${errors.slice(0, 3).join(', ')}`
    },
    invalidKeyword(schema) {
      const error = errorsOf(schema)?.[0]
      return error && { pointer: error.instancePath, message: error.message ?? `fails ${error.keyword}` }
    },
    create({ allErrors }) {
      const ajv = new Compiler({ ...OPTIONS, meta: false, allErrors })
      formats.default(ajv)
      addUniqueItems(ajv)
      return ajv
    },
  }
}

const older = (name: string, Compiler: Compiler): Dialect => dialect(metaSchema(name, Compiler), Compiler)

// Nearly all schemas are of this draft: the build compiled its meta-schema.
const DRAFT_2020 = dialect(() => validateMetaSchema, Ajv2020)
const DIALECTS: readonly (readonly [RegExp, Dialect])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, DRAFT_2020],
  [
    /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/,
    older('https://json-schema.org/draft/2019-09/schema', Ajv2019),
  ],
  [/^https?:\/\/json-schema\.org\/(?:draft-0[67]\/)?schema#?$/, older('http://json-schema.org/draft-07/schema', Ajv)],
]

const toDetails = (errors: readonly ErrorObject[] | null | undefined): readonly InvalidPlace[] =>
  (errors ?? []).slice(0, MAX_FINDINGS).map(toDetail)

/** Points at the place that a person would edit, with a message in our own words where ajv's is unclear. */
function toDetail(error: ErrorObject): InvalidPlace {
  const { keyword, instancePath, params } = error
  const at = (property: unknown): string => pointerTo(instancePath, String(property))
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

// Errors of the sandbox, such as a stack overflow, belong to another realm, so `instanceof Error` is false for them.
const messageOf = (error: unknown): string => {
  const why = shortenText(String((error as { message?: unknown })?.message ?? error), 300)
  return why === 'Maximum call stack size exceeded' ? 'the schema or the value is nested too deep' : why
}
