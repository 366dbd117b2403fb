/** A thread that lints parts of a project for another one (`lint-crew.ts`). */
import { parentPort, workerData } from 'node:worker_threads'
import { createShare, type Order } from '../documents/lint-parts.ts'
import { eagerReader, type Call, type Told } from './lint-crew.ts'

export function helpLint(): void {
  const loading = workerData as Int32Array
  Atomics.sub(loading, 0, 1)
  parentPort!.once('message', (order: Order) => {
    const share = createShare(order, undefined, eagerReader(loading))
    const { files } = share
    let told = 0
    parentPort!.on('message', ({ round, taken, place, port }: Call) => {
      Atomics.store(taken, place, 1)
      share.run(
        round,
        () => Atomics.add(taken, 0, 1),
        (part, report) => {
          const seen = files.seen!().slice(told)
          told += seen.length
          port.postMessage({ part, report, seen: seen.map((path) => [path, files.trace!(path)]) } satisfies Told)
        },
      )
      port.close()
      parentPort!.postMessage('done')
    })
  })
}
