// An MCP server over its standard streams that misbehaves as its first argument says. It writes its process id to the file that
// the second one names.
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [mode = 'good', pids] = process.argv.slice(2)
if (pids !== undefined) appendFileSync(pids, `${process.pid}\n`)
if (mode === 'noisy') process.stdout.write('Server listening; this line is no message.\n{"jsonrpc":"2.0"\n')
if (mode === 'no-server') {
  process.stderr.write(`Usage: give me a token, not ${process.env['TOKEN_OF_TEST']}\n`, () => process.exit(2))
}
if (mode === 'chatty') {
  const write = () => process.stdout.write('x'.repeat(65536) + '\n', () => setImmediate(write))
  write()
}
if (mode === 'endless') {
  const write = () => process.stdout.write('x'.repeat(1 << 20), () => setImmediate(write))
  write()
}
if (mode === 'stubborn' || mode === 'silent') process.on('SIGTERM', () => {})
if (mode === 'stubborn' || mode === 'closing its output') setInterval(() => {}, 1000)
if (mode === 'forks') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  appendFileSync(pids, `${child.pid}\n`)
}
if (mode === 'leaves') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true })
  appendFileSync(pids, `${child.pid}\n`)
  child.unref()
}
// Its answers wait until a process that it started has 200 MiB.
const grown =
  mode === 'grows' &&
  new Promise((resolve) => {
    const program = 'globalThis.kept = Buffer.alloc(200 * 2 ** 20, 1); console.log(); setInterval(() => {}, 1000)'
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
    appendFileSync(pids, `${child.pid}\n`)
    child.stdout.once('data', resolve)
  })

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
const say = (id, text) => send({ id, result: { content: [{ type: 'text', text }] } })
const tool = (name, extra = {}) => ({ name, description: name, inputSchema: { type: 'object' }, ...extra })
let lists = 0
let asking
let waiting

const answers = {
  initialize: (id, { protocolVersion }) =>
    mode === 'old'
      ? send({ id, result: { protocolVersion: '1999-01-01' } })
      : mode === 'refuses'
        ? send({ id, error: { code: -1, message: `Not with ${process.env['TOKEN_OF_TEST']}.` } })
        : send({
            id,
            result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: mode, version: '1' } },
          }),
  'tools/list': (id, { cursor }) => {
    lists++
    if (mode === 'listing in pages' && cursor === undefined) return send({ id, result: { tools: [], nextCursor: '2' } })
    if (mode === 'losing the id') return send({ id: null, error: { code: -32700, message: 'What?' } })
    if (mode === 'listing nothing') return send({ id, result: {} })
    const many =
      mode === 'many' ? Array.from({ length: 20_000 }, (_, at) => tool(`t${at}`, { description: 'x'.repeat(100) })) : []
    send({
      id,
      result: {
        tools: [
          tool('echo', mode === 'changing' ? { description: `list ${lists}` } : {}),
          ...['die', 'hang', 'environment', 'large', 'sample', 'pid'].map((name) => tool(name)),
          ...many,
          ...(mode === 'lists its secret'
            ? [
                tool('odd', { inputSchema: process.env['TOKEN_OF_TEST'] }),
                tool(process.env['TOKEN_OF_TEST'], { inputSchema: 1 }),
              ]
            : []),
        ],
      },
    })
  },
  ping: (id) => {
    if (mode !== 'silent') send({ id, result: {} })
    appendFileSync(`${pids}.pings`, 'ping\n')
  },
  'tools/call': (id, { name, arguments: given }) => {
    if (mode.startsWith('answering')) {
      const own = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify(given) }] } }
      const other = waiting
      waiting = own
      if (other === undefined) return
      waiting = undefined
      if (mode.endsWith('order')) return [own, other].forEach(send)
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } }
      return process.stdout.write(JSON.stringify([progress, own, other, own, { ...own, id: 'nobody' }]) + '\r\n')
    }
    const text = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'last words' }] } })
    if (mode === 'ending without a newline') return process.stdout.write(text, () => process.exit(0))
    if (mode === 'ending in its answer') return process.stdout.write(text.replace(/.{9}$/, ''), () => process.exit(0))
    if (mode === 'closing its output') return process.stdout.end()
    if (mode === 'writing no JSON') return process.stdout.write(text.replace(' ', '\t') + '\n')
    if (mode === 'complaining in a call') send({ id: null, error: { code: -32700, message: 'What?' } })
    if (name === 'echo') return void Promise.resolve(grown).then(() => say(id, `echo ${given.text}`))
    if (name === 'pid') return say(id, String(process.pid))
    if (name === 'environment')
      return say(id, JSON.stringify({ names: Object.keys(process.env).sort(), cwd: process.cwd() }))
    if (name === 'large') return say(id, 'x'.repeat(6 * 1024 * 1024))
    if (name === 'sample')
      return (
        (asking = id), send({ id: 'q1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
      )
    if (name === 'die') {
      process.stderr.write('Out of luck.\n')
      process.stderr.write('', () => process.exit(3))
    }
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {}, error } = JSON.parse(line)
  if (mode === 'chatty' || mode === 'endless') return
  if (id === 'q1') return say(asking, JSON.stringify(error))
  if (mode === 'strict' && method === 'server/discover') process.exit(1)
  if (method === 'server/discover') return send({ id, error: { code: -32601, message: 'Method not found' } })
  if (mode === 'mute' && method === 'initialize') return
  if (id !== undefined) answers[method]?.(id, params)
})
