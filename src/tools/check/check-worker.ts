/** Entry point of the worker thread that `check-thread.ts` starts. */
import { parentPort } from 'node:worker_threads'
import type { InvalidPlace } from '../../base/failure.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { CheckOrder } from './check-thread.ts'
import { uncheckable, usableSchema, type UsableSchema } from './schema-compiler.ts'

/** Schemas by their text, so that each is compiled once. */
const known = new Map<string, UsableSchema>()
const MAX_KNOWN = 50

function findSchema(text: string): UsableSchema {
  const cached = known.get(text)
  if (cached) return cached
  if (known.size >= MAX_KNOWN) known.clear()
  const found = usableSchema(JSON.parse(text) as JsonSchema)
  known.set(text, found)
  return found
}

function runCheck({ schema, value }: CheckOrder): readonly InvalidPlace[] {
  const found = findSchema(schema)
  if ('problem' in found) return [uncheckable(found.problem)]
  if (value !== undefined) return found.check(JSON.parse(value))
  const problem = found.compileProblem()
  return problem === undefined ? [] : [uncheckable(problem)]
}

parentPort!.on('message', (order: CheckOrder) => parentPort!.postMessage(runCheck(order)))
