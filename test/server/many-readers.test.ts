import { spawn } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { DESK, closing, running, scripted, tool } from './running.ts'

setFlagsFromString('--expose-gc')
/** Collects what nothing refers to, so that only what is held is counted. */
const collect = runInNewContext('gc') as () => void

const READERS = 2000
/** Streams that one key may have open. */
const PER_KEY = 100

/** Opens streams in a process of its own, whose memory is not the server's, and says when all of them are live. */
const CLIENT = `
  const { connect } = require('node:net')
  let live = 0
  const open = ({ port, path, keys }) => {
    for (const key of keys)
      for (let at = 0; at < ${PER_KEY}; at++) {
        const socket = connect(port, '127.0.0.1')
        socket.write('GET ' + path + ' HTTP/1.1\\r\\nhost: 127.0.0.1:' + port + '\\r\\nx-api-key: ' + key + '\\r\\n\\r\\n')
        let text = ''
        socket.on('data', (bytes) => {
          text += bytes
          if (!text.includes(': live')) return
          text = ''
          process.send(++live)
        })
      }
  }
  process.on('message', open)
`

test('2,000 readers of a stream cost at most 24 KB of heap each', async () => {
  const waits = tool('acme.waits', { sideEffectClass: 'read_only' })
  const { server, start, operator } = await running({
    snapshot: scripted([{ call: { tool: 'waits', arguments: {} } }, { say: 'ok' }], [waits]),
    config: { tools: { 'acme.waits': { mock: [{ result: 1, delay: '50s' }] } } },
  })
  const { body } = await start()
  const keys: string[] = []
  for (let at = 0; at < READERS / PER_KEY + 1; at++)
    keys.push(((await operator('POST /keys', { agent: DESK, trigger: 'api' })) as { secret: string }).secret)
  const { port } = new URL(server.url)
  const client = spawn(process.execPath, ['-e', CLIENT], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  closing(() => void client.kill())
  const reached = (count: number): Promise<void> =>
    new Promise((resolve) => client.on('message', (live) => live === count && resolve()))
  const readers = async (from: number, to: number): Promise<void> => {
    const path = `/v1/runs/${body['runId']}/stream`
    const done = reached(to * PER_KEY)
    client.send({ port: Number(port), path, keys: keys.slice(from, to) })
    await done
  }
  // The first streams load what all of them use.
  await readers(0, 1)
  collect()
  const before = process.memoryUsage()
  await readers(1, READERS / PER_KEY + 1)
  collect()
  const after = process.memoryUsage()
  // What the allocator keeps beside it differs from run to run: the resident size grew by 29 KB a reader when this was written.
  const held = ({ heapUsed, external }: NodeJS.MemoryUsage): number => (heapUsed + external) / READERS / 1024
  expect(held(after) - held(before)).toBeLessThan(24)
})
