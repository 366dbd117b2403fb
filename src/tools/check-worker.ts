/** Entry point of the thread that checks what may take long (`check-thread.ts`). */
import { parentPort } from 'node:worker_threads'
import type { InvalidPlace } from '../base/failure.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import type { CheckOrder } from './check-thread.ts'
import { uncheckable, usableSchema, type UsableSchema } from './schema-compiler.ts'

/** Schemas by their text: reading one again would lose what was compiled. */
const known = new Map<string, UsableSchema>()
const MAX_KNOWN = 50

function usable(text: string): UsableSchema {
  const before = known.get(text)
  if (before) return before
  if (known.size >= MAX_KNOWN) known.clear()
  const found = usableSchema(JSON.parse(text) as JsonSchema)
  known.set(text, found)
  return found
}

function answer({ schema, value }: CheckOrder): readonly InvalidPlace[] {
  const found = usable(schema)
  if ('problem' in found) return [uncheckable(found.problem)]
  if (value !== undefined) return found.check(JSON.parse(value))
  const problem = found.compileProblem()
  return problem === undefined ? [] : [uncheckable(problem)]
}

parentPort!.on('message', (order: CheckOrder) => parentPort!.postMessage(answer(order)))
