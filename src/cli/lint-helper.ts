/** A thread that lints parts of a project for another one (`lint-crew.ts`). */
import { parentPort } from 'node:worker_threads'
import { createShare, type Order } from '../documents/lint-parts.ts'
import type { Answer, Call } from './lint-crew.ts'

export function helpLint(): void {
  parentPort!.once('message', (order: Order) => {
    const share = createShare(order)
    const { files } = share
    parentPort!.on('message', ({ round, taken, place }: Call) => {
      Atomics.store(taken, place, 1)
      const reports = share.run(round, () => Atomics.add(taken, 0, 1))
      const answer: Answer = { reports, seen: files.seen!().map((path) => [path, files.trace!(path)]) }
      parentPort!.postMessage(answer)
    })
  })
}
