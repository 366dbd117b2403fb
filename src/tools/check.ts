/**
 * Checks values against JSON Schemas that others wrote. What may take long is done by another thread, within bounds of time
 * and memory. What cannot be checked is never valid. Source: security, S11 to S13.
 */
import { createHash } from 'node:crypto'
import type { InvalidPlace } from '../base/failure.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { checkInThread, CheckUnfinished, type CheckOrder } from './check-thread.ts'
import { uncheckable, usableSchema, type SizedSchema } from './schema-compiler.ts'

/**
 * What is wrong with a value, at most 20 places: a JSON pointer into it and a sentence part. Empty = valid.
 * A schema that cannot be compiled, or a check that takes too long, is itself a finding.
 *
 * Checks here and now, which may take 60 ms of processor time. Work that is done by `workWithChecks` does not wait for that.
 */
export function checkValue(schema: JsonSchema, value: unknown): readonly InvalidPlace[] {
  if (schema === true) return []
  const usable = usableSchema(schema)
  if ('problem' in usable) return [uncheckable(usable.problem)]
  if (!verdicts || !usable.mayBeLong(value)) return usable.check(value)
  const check = new LongCheck(usable, value)
  const verdict = verdicts.get(check.key)
  if (verdict) return verdict
  throw check
}

/** The same, in another thread where it may take long. */
export async function checkForeignValue(schema: JsonSchema, value: unknown): Promise<readonly InvalidPlace[]> {
  if (schema === true) return []
  const usable = usableSchema(schema)
  if ('problem' in usable) return [uncheckable(usable.problem)]
  return usable.mayBeLong(value) ? new LongCheck(usable, value).run() : usable.check(value)
}

/** Why a schema cannot be used to check anything; undefined when it can. Compiles it, in another thread where that may take long. */
export async function checkForeignSchema(schema: JsonSchema): Promise<string | undefined> {
  if (schema === true) return undefined
  const usable = usableSchema(schema)
  if ('problem' in usable) return usable.problem
  if (!usable.mayBeLong(null)) return usable.compileProblem()
  const [detail] = await inThread({ schema: JSON.stringify(schema) })
  return detail?.message.replace(UNCHECKABLE, '')
}

const UNCHECKABLE = uncheckable('').message

/** Verdicts of the work that is being done; undefined outside of it. */
let verdicts: Map<string, readonly InvalidPlace[]> | undefined

/**
 * Does synchronous work that calls `checkValue`. A check that may take long ends the work; it is done by another thread, and
 * the work is done again with its verdict. So the work must have no effects, and must not catch what it does not know.
 */
export async function workWithChecks<T>(work: () => T): Promise<T> {
  const known = new Map<string, readonly InvalidPlace[]>()
  for (;;) {
    let check: LongCheck
    try {
      verdicts = known
      return work()
    } catch (error) {
      if (!isLongCheck(error)) throw error
      check = error
    } finally {
      verdicts = undefined
    }
    known.set(check.key, await check.run())
  }
}

/** True for what `checkValue` throws in work that is done by `workWithChecks`: it must reach that. */
export const isLongCheck = (error: unknown): error is LongCheck => error instanceof LongCheck

/** A check that ends the work it is part of. */
class LongCheck extends Error {
  readonly key: string
  readonly #order: CheckOrder

  constructor({ schema, digest }: SizedSchema, value: unknown) {
    super('A check that may take long has no verdict yet.')
    const text = JSON.stringify(value)
    this.#order = { schema: JSON.stringify(schema), value: text }
    this.key = `${digest} ${createHash('sha256').update(text).digest('base64')}`
  }

  run(): Promise<readonly InvalidPlace[]> {
    return inThread(this.#order)
  }
}

async function inThread(order: CheckOrder): Promise<readonly InvalidPlace[]> {
  try {
    return await checkInThread(order)
  } catch (error) {
    if (error instanceof CheckUnfinished) return [uncheckable(error.message)]
    throw error
  }
}
