/**
 * Checks values against untrusted JSON Schemas. A check that may take long runs in another thread, within limits of time and
 * memory. A value that cannot be checked is never valid. Source: docs/design/security.md#foreign-values
 */
import { createHash } from 'node:crypto'
import type { InvalidPlace } from '../../base/failure.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { checkInThread, CheckUnfinished, type CheckOrder } from './check-thread.ts'
import { uncheckable, usableSchema, type SizedSchema } from './schema-compiler.ts'

/**
 * Returns the faults of a value, at most 20, each a JSON pointer and part of a sentence. Empty means valid.
 * A schema that cannot be compiled, or a check that takes too long, is reported as a finding.
 *
 * Checks synchronously, which may take 60 ms of CPU time; inside `workWithChecks`, long checks run in another thread.
 */
export function checkValue(schema: JsonSchema, value: unknown): readonly InvalidPlace[] {
  if (schema === true) return []
  const usable = usableSchema(schema)
  if ('problem' in usable) return [uncheckable(usable.problem)]
  return knownResults?.find(usable, value) ?? usable.check(value)
}

/** Like `checkValue`, but a check that may take long runs in another thread. */
export async function checkForeignValue(schema: JsonSchema, value: unknown): Promise<readonly InvalidPlace[]> {
  if (schema === true) return []
  const usable = usableSchema(schema)
  if ('problem' in usable) return [uncheckable(usable.problem)]
  return usable.mayBeLong(value) ? new LongCheck(usable, value).run() : usable.check(value)
}

/** Returns why a schema cannot be used; undefined when it can. Compiles it, in another thread if that may take long. */
export async function checkForeignSchema(schema: JsonSchema): Promise<string | undefined> {
  if (schema === true) return undefined
  const usable = usableSchema(schema)
  if ('problem' in usable) return usable.problem
  if (!usable.mayBeLong(null)) return usable.compileProblem()
  const [detail] = await runInThread({ schema: JSON.stringify(schema) })
  return detail?.message.replace(UNCHECKABLE, '')
}

/** Like `checkForeignSchema`, for work that is done again when a check turns out to be long. */
export function findSchemaProblem(schema: JsonSchema): string | undefined {
  const [found] = checkValue(schema, null)
  return found?.message.startsWith(UNCHECKABLE) ? found.message.slice(UNCHECKABLE.length) : undefined
}

const UNCHECKABLE = uncheckable('').message

/** Results of long checks for the work in progress; undefined outside `workWithChecks`. */
let knownResults: CheckResults | undefined

/**
 * Runs synchronous work that calls `checkValue`. A check that may take long aborts the work with an exception, runs in another
 * thread, and the work starts again with the result. The work must therefore have no effects, must not swallow exceptions
 * that it does not know, and must not change a value that it checks.
 */
export async function workWithChecks<T>(work: () => T): Promise<T> {
  const known = new CheckResults()
  for (;;) {
    let check: LongCheck
    try {
      knownResults = known
      return work()
    } catch (error) {
      if (!isLongCheck(error)) throw error
      check = error
    } finally {
      knownResults = undefined
    }
    known.add(check, await check.run())
  }
}

class CheckResults {
  readonly #byText = new Map<string, readonly InvalidPlace[]>()
  /** Also by the value itself: writing the text of a large value at every repetition of the work would block the event loop. */
  readonly #byValue = new Map<unknown, Map<string, readonly InvalidPlace[]>>()

  /**
   * The result of a check that may take long; undefined for any other check.
   * @throws LongCheck when there is no result yet
   */
  find(schema: SizedSchema, value: unknown): readonly InvalidPlace[] | undefined {
    const known = this.#byValue.get(value)?.get(schema.digest)
    if (known) return known
    if (!schema.mayBeLong(value)) return undefined
    const check = new LongCheck(schema, value)
    const result = this.#byText.get(check.key)
    if (!result) throw check
    this.add(check, result)
    return result
  }

  add({ key, digest, value }: LongCheck, result: readonly InvalidPlace[]): void {
    this.#byText.set(key, result)
    const results = this.#byValue.get(value) ?? new Map<string, readonly InvalidPlace[]>()
    this.#byValue.set(value, results.set(digest, result))
  }
}

/** True for the exception that `checkValue` throws inside `workWithChecks`; the work must let it through. */
export const isLongCheck = (error: unknown): error is LongCheck => error instanceof LongCheck

/** Thrown to abort the work that needs the result of a long check. */
class LongCheck extends Error {
  readonly key: string
  readonly digest: string
  readonly value: unknown
  readonly #order: CheckOrder

  constructor({ schema, digest }: SizedSchema, value: unknown) {
    super('A check that may take long has no result yet.')
    this.digest = digest
    this.value = value
    const text = JSON.stringify(value)
    this.#order = { schema: JSON.stringify(schema), value: text }
    this.key = `${digest} ${createHash('sha256').update(text).digest('base64')}`
  }

  run(): Promise<readonly InvalidPlace[]> {
    return runInThread(this.#order)
  }
}

async function runInThread(order: CheckOrder): Promise<readonly InvalidPlace[]> {
  try {
    return await checkInThread(order)
  } catch (error) {
    if (error instanceof CheckUnfinished) return [uncheckable(error.message)]
    throw error
  }
}
