/** Threads that share the work of a lint. Source: performance, "What works", 7, and goal G15. */
import { sameTrace, type Files, type Trace } from '../documents/files.ts'
import { alone, createShare, hearing, type Crew, type Order } from '../documents/lint-parts.ts'
import type { PartReport } from '../documents/part.ts'
import { tellLargeRun } from './large-run.ts'
import { tellTuned, WORTH_A_THREAD, type Reserve } from './lint-threads.ts'
import { tuneAsUsual, tuneForBrevity } from './tuning.ts'

/** Files from which on what V8 does otherwise is more than telling it takes. */
const WORTH_TUNING = 16

/** Documents of a part that takes longer than a person waits who has pressed Ctrl-C. */
const LONG_PART = 1500

/** This thread and those of a reserve that are worth it; this one alone where no other can be started. */
export const crewFrom =
  (reserve: Reserve) =>
  (order: Order, own: Files): Crew => {
    const { length } = order.candidates
    if (length < WORTH_TUNING) return alone(createShare(order, own))
    tuneForBrevity()
    const crew = length < WORTH_A_THREAD ? alone(createShare(order, own)) : crewOf(reserve, order, own)
    return {
      ...crew,
      async close() {
        await crew.close?.()
        tuneAsUsual()
      },
    }
  }

function crewOf(reserve: Reserve, order: Order, files: Files): Crew {
  const all = reserve.helpers()
  const own = createShare(order, files)
  const seen = new Map<string, Trace>()
  tellTuned(reserve.state)
  for (const helper of all) helper.prepare(order)
  return {
    seen,
    async run(round) {
      // What is all one part is nothing to share. A long one is left to another thread: this one could not hear a signal.
      const isLeft = round.parts.length === 1 && round.parts[0]!.paths.length >= LONG_PART
      const helpers = all.slice(0, isLeft ? 1 : round.parts.length - 1)
      const taken = new Int32Array(new SharedArrayBuffer(4 * (1 + helpers.length)))
      const reports = new Map<number, PartReport>()
      const tell = (part: number, report: PartReport): void => void reports.set(part, report)
      const asked = helpers.map((helper, at) => helper.ask(round, taken, at + 1))
      // Between the parts, when the others still lint: at the end this thread would do it while they have nothing to do.
      const collect = (): void => {
        for (const { told } of asked)
          for (let each = told(); each !== undefined; each = told()) {
            tell(each.part, each.report)
            for (const [path, trace] of each.seen) seen.set(path, sameTrace(trace, seen.get(path)))
          }
      }
      const next = (): number => {
        collect()
        return Atomics.add(taken, 0, 1)
      }
      const lintOne = own.begin(round)
      if (isLeft) await asked[0]?.done
      else tellLargeRun()
      for (let part = next(); part < round.parts.length; part = next()) {
        tell(part, lintOne(part))
        await hearing()
      }
      // A helper that has not begun is not waited for: nothing is left that it could take.
      for (const [at, { done }] of asked.entries()) if (Atomics.load(taken, at + 1) !== 0) await done
      collect()
      for (const { close } of asked) close()
      // What a helper took with it when it failed.
      for (const part of round.parts.keys()) if (!reports.has(part)) tell(part, lintOne(part))
      return round.parts.map((_, part) => reports.get(part)!)
    },
    close() {
      return Promise.all(all.map((helper) => helper.dismiss()))
    },
  }
}
