/** Compiles JSON Schemas that others wrote, each once, and checks values with them in bounded time. Source: security, S11 to S13. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { digestOfJson } from '../base/digest.ts'
import type { InvalidPlace } from '../base/failure.ts'
import type { JsonObject } from '../base/json.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { CpuTimeExceeded, withinCpuTime } from './cpu-time.ts'
import { measureSchema, type SchemaSize } from './schema-size.ts'
import { addUniqueItems } from './unique-items.ts'
import { measureValue } from './value-size.ts'

/** A schema that can be used, or why it cannot. Compiled with its first check. */
export type UsableSchema = SizedSchema | { readonly problem: string }

/** Places of a value that are named, at most. */
const MAX_FINDINGS = 20
/** Processor time of one check: far above what an honest one takes, far below what an attack needs. */
const CHECK_CPU_MS = 60
/** Of compiling, which happens once: a schema at the bounds of `schema-size.ts` takes half of it. */
const COMPILE_CPU_MS = 1000
/** Every fault is looked for up to this product of schema and value; beyond, the first fault is told. */
const MAX_WORK_FOR_ALL = 20_000
/** A check of less is done at once, without a bound on its time: 1 to 3 ms. */
const MAX_EASY_WORK = 50_000
/** A schema of more nodes takes 10 ms and more to compile. */
const MAX_WORK_TO_COMPILE = 100
/** Compiled schemas kept; each is some 10 to 50 KB. */
const MAX_CACHED = 500

const bySchema = new WeakMap<object, UsableSchema>()
const byDigest = new Map<string, UsableSchema>()

export function usableSchema(schema: JsonSchema): UsableSchema {
  if (typeof schema === 'boolean') return new SizedSchema(schema, TRIVIAL, String(schema))
  // Snapshots keep their schema objects, so the digest is mostly not needed.
  const known = bySchema.get(schema)
  if (known) return known
  const usable = byContent(schema)
  bySchema.set(schema, usable)
  return usable
}

const TRIVIAL: SchemaSize = { work: 1, recursive: false, growth: undefined }

function byContent(schema: JsonObject): UsableSchema {
  // Measured first: the digest of a bottomless value would overflow the stack.
  const size = measureSchema(schema)
  if ('problem' in size) return size
  const digest = digestOfJson(schema)
  const known = byDigest.get(digest)
  if (known) return known
  const usable = new SizedSchema(schema, size, digest)
  if (byDigest.size >= MAX_CACHED) byDigest.delete(byDigest.keys().next().value!)
  byDigest.set(digest, usable)
  return usable
}

type CompiledSchema =
  | { readonly first: ValidateFunction; all?: ValidateFunction }
  /** Why it cannot be compiled. */
  | { readonly problem: string }

export class SizedSchema {
  readonly schema: JsonSchema
  readonly size: SchemaSize
  /** The same for schemas of the same content. */
  readonly digest: string
  #compiled: CompiledSchema | undefined

  constructor(schema: JsonSchema, size: SchemaSize, digest: string) {
    this.schema = schema
    this.size = size
    this.digest = digest
  }

  /** True when a check of the value may take longer than a thread that serves others may give. */
  mayBeLong(value: unknown): boolean {
    return this.#takesCompiling() || this.#isHard(value)
  }

  #takesCompiling(): boolean {
    return this.#compiled === undefined && this.size.work > MAX_WORK_TO_COMPILE
  }

  #isHard(value: unknown): boolean {
    return this.size.recursive || measureValue(value, this.size, MAX_EASY_WORK).exceeds
  }

  /** Why it cannot be compiled; undefined when it can. */
  compileProblem(): string | undefined {
    const compiled = this.#compile()
    return 'problem' in compiled ? compiled.problem : undefined
  }

  /** What is wrong with a value, within the bounds of time and of findings. */
  check(value: unknown): readonly InvalidPlace[] {
    const compiled = this.#compile()
    if ('problem' in compiled) return [uncheckable(compiled.problem)]
    const within = this.#isHard(value) ? <T>(work: () => T): T => withinCpuTime(CHECK_CPU_MS, work) : unbounded
    try {
      // The first fault ends the check: one that collects them all takes memory for each of a million.
      if (within(() => compiled.first(value))) return []
    } catch (error) {
      return [uncheckable(error instanceof CpuTimeExceeded ? `the check ${error.message}` : whyOf(error))]
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
      const problem = invalidity(this.schema)
      this.#compiled = problem === undefined ? { first: compileWith(this.schema, { allErrors: false }) } : { problem }
    } catch (error) {
      const problem = error instanceof CpuTimeExceeded ? `compiling the schema ${error.message}` : whyOf(error)
      this.#compiled = { problem }
    }
    return this.#compiled
  }
}

const unbounded = <T>(work: () => T): T => work()

export const uncheckable = (problem: string): InvalidPlace => ({ path: '', message: `cannot be checked: ${problem}` })

function invalidity(schema: JsonSchema): string | undefined {
  const dialect = dialectOf(schema)
  return dialect ? dialect.invalid(schema) : 'its $schema names a dialect that is not known'
}

const compileWith = (schema: JsonSchema, options: { allErrors: boolean }): ValidateFunction =>
  withinCpuTime(COMPILE_CPU_MS, () =>
    dialectOf(schema)!
      .create(options)
      .compile(schema as object),
  )

interface Dialect {
  /** What is wrong with the schema by its dialect's own schema. */
  invalid(schema: JsonSchema): string | undefined
  /** A compiler of its own for each schema: two schemas may carry the same `$id`, and ajv keeps what it has seen for ever. */
  create(options: { readonly allErrors: boolean }): Ajv
}

/** JSON Schema 2020-12 unless `$schema` names an older draft, as MCP servers in the field do. */
function dialectOf(schema: JsonSchema): Dialect | undefined {
  const named = typeof schema === 'object' ? schema['$schema'] : undefined
  if (typeof named !== 'string') return DRAFT_2020
  return DIALECTS.find(([pattern]) => pattern.test(named))?.[1]
}

const OPTIONS = { strict: false, logger: false, validateSchema: false } as const

function dialect(
  meta: string,
  Compiler: new (options: typeof OPTIONS & { meta: boolean; allErrors: boolean }) => Ajv,
): Dialect {
  let checker: Ajv | undefined
  let validate: ValidateFunction | undefined
  return {
    invalid(schema) {
      checker ??= new Compiler({ ...OPTIONS, meta: true, allErrors: false })
      // Compiled before time is measured: it is ours, and a compiler that is interrupted is of no use afterwards.
      const isValid = (validate ??= checker.getSchema(meta)!)
      if (withinCpuTime(CHECK_CPU_MS, () => isValid(schema))) return undefined
      return `the schema is invalid: ${checker.errorsText(isValid.errors?.slice(0, 3), { dataVar: 'schema' })}`
    },
    create({ allErrors }) {
      const ajv = new Compiler({ ...OPTIONS, meta: false, allErrors })
      // The package is CommonJS whose types know only its default export.
      const add = formats as unknown as { default?: (ajv: Ajv) => void } & ((ajv: Ajv) => void)
      ;(add.default ?? add)(ajv)
      addUniqueItems(ajv)
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

const toDetails = (errors: readonly ErrorObject[] | null | undefined): readonly InvalidPlace[] =>
  (errors ?? []).slice(0, MAX_FINDINGS).map(toDetail)

/** Points at the place a person would mend, and says it without ajv's words. */
function toDetail(error: ErrorObject): InvalidPlace {
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

// Errors of the sandbox (a stack that overflows) belong to another realm, so `instanceof` would miss them.
const whyOf = (error: unknown): string => {
  const why = String((error as { message?: unknown })?.message ?? error).slice(0, 300)
  return why === 'Maximum call stack size exceeded' ? 'the schema or the value is nested too deep' : why
}
