/** A thread that lints parts of a project for another one (`lint-threads.ts`): a program of its own, a third as long to load. */
import { parentPort } from 'node:worker_threads'
import { createShare, type Order } from '../documents/lint-parts.ts'
import { END, type Call, type Told } from './lint-threads.ts'

/**
 * @param isNew true where what is compiled is to be kept for the next time
 * @param keep keeps it
 */
export function help(isNew: boolean, keep: () => void): void {
  const port = parentPort!
  port.once('message', (order: Order) => {
    const share = createShare(order)
    const { files } = share
    let known = 0
    port.on('message', (call: Call | typeof END) => {
      if (call === END) {
        keep()
        return port.close()
      }
      const { round, taken, place, ear } = call
      Atomics.store(taken, place, 1)
      const lintOne = share.begin(round)
      const next = (): number => Atomics.add(taken, 0, 1)
      for (let part = next(); part < round.parts.length; part = next()) {
        const report = lintOne(part)
        const seen = files.seen!().slice(known)
        known += seen.length
        ear.postMessage({ part, report, seen: seen.map((path) => [path, files.trace!(path)]) } satisfies Told)
      }
      ear.close()
      port.postMessage(isNew)
    })
  })
}
