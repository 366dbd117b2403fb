/** A server in a process of its own, so that nothing of the test counts as its work. It tells its resident memory. */
import { readFileSync, writeFileSync } from 'node:fs'
import { silentLog } from '../../../src/base/log.ts'
import { openServer, type ServerOptions } from '../../../src/server/open.ts'

export interface ServedStart {
  readonly directory: string
  readonly config: ServerOptions['config']
}

/** Resident memory of the server. */
export interface ServedMemory {
  /** Most since `watch`, and what was resident then. */
  readonly peakMiB: number
  readonly residentMiB: number
}

export type ServedOrder =
  /** Asks the operator application, as `svc publish` does. */
  | { readonly order: 'ask'; readonly line: string; readonly body: unknown }
  /** Begins to measure. */
  | { readonly order: 'watch' }
  | { readonly order: 'report' }

const statusMiB = (name: string): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'latin1'))![1]) / 1024

process.once('message', ({ directory, config }: ServedStart) => {
  void openServer({
    dataDirectory: directory,
    workspace: 'acme',
    config,
    configDirectory: directory,
    env: { PATH: process.env['PATH'], SVC_OPERATOR: 'ana@acme.example' },
    version: '0.1.0',
    log: silentLog,
  }).then((server) => {
    let residentMiB = 0
    const carryOut = async (order: ServedOrder): Promise<unknown> => {
      if (order.order === 'ask') {
        const [method, path] = order.line.split(' ') as [string, string]
        const headers = { 'content-type': 'application/json' }
        const request = new Request(`http://operator.svc${path}`, { method, body: JSON.stringify(order.body), headers })
        return (await server.operator.fetch(request)).json()
      }
      if (order.order === 'watch') {
        globalThis.gc?.()
        // Forgets the peak so far.
        writeFileSync('/proc/self/clear_refs', '5')
        residentMiB = statusMiB('VmRSS')
        return undefined
      }
      return { residentMiB, peakMiB: statusMiB('VmHWM') } satisfies ServedMemory
    }
    process.on('message', (order: ServedOrder) => {
      void carryOut(order).then((answer) => process.send!({ answer }))
    })
    process.on('disconnect', () => void server.close().finally(() => process.exit()))
    process.send!({ url: server.url })
  })
})
