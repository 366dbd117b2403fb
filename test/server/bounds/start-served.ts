/** Starts the server of `served.ts`, and `health.cjs` beside it. */
import { fork } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerOptions } from '../../../src/server/open.ts'
import type { ServedOrder, ServedMemory } from './served.ts'
import { removeDirectory } from '../../remove-directory.ts'

/** Answers to the question for its health since `watch`. */
export interface ServedHealth {
  readonly longestMs: number
  readonly answers: number
  readonly failed: number
}

export interface ServedServer {
  readonly url: string
  ask(line: string, body: unknown): Promise<never>
  /** Begins to measure. */
  watch(): Promise<void>
  report(): Promise<ServedMemory & ServedHealth>
  close(): Promise<void>
}

export async function startServed(config: ServerOptions['config']): Promise<ServedServer> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const child = fork(new URL('served.ts', import.meta.url), {
    execArgv: ['--import', 'tsx', '--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let reject: (error: Error) => void = () => {}
  child.once('exit', (code, signal) => reject(new Error(`The server ended with ${code ?? signal}.`)))
  const sent = <T>(message: object): Promise<T> =>
    new Promise((resolve, fail) => {
      reject = fail
      child.once('message', (answer) => resolve(answer as T))
      child.send(message)
    })
  const { url } = await sent<{ url: string }>({ directory: join(directory, 'data'), config })
  const order = async <T>(given: ServedOrder): Promise<T> => (await sent<{ answer: T }>(given)).answer
  const asker = fork(new URL('health.cjs', import.meta.url), [String(child.pid), new URL(url).port])
  const health = (): Promise<ServedHealth> =>
    new Promise((resolve) => {
      asker.once('message', (answer) => resolve(answer as ServedHealth))
      asker.send('report')
    })
  return {
    url,
    ask: (line, body) => order({ order: 'ask', line, body }),
    async watch() {
      await order({ order: 'watch' })
      await health()
    },
    report: async () => ({ ...(await health()), ...(await order<ServedMemory>({ order: 'report' })) }),
    async close() {
      asker.disconnect()
      child.disconnect()
      await ended
      removeDirectory(directory)
    },
  }
}
