// Plays a coding agent: a client of MCP that starts `svc mcp --tools acme.coder`, as Claude Code does, and mends project/.
import { spawn } from 'node:child_process'

const [program, ...args] = process.argv.length > 2 ? process.argv.slice(2) : ['svc']
const gate = spawn(program, [...args, 'mcp', '--tools', 'acme.coder'], { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
let rest = ''
gate.stdout.setEncoding('utf8').on('data', (text) => {
  const lines = `${rest}${text}`.split('\n')
  rest = lines.pop()
  for (const { id, result, error } of lines.map((line) => JSON.parse(line))) waiting.get(id)?.(error ?? result)
})
const send = (message) => gate.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
let last = 0
const ask = (method, params) =>
  new Promise((resolve) => {
    last += 1
    waiting.set(last, resolve)
    send({ id: last, method, params })
  })
const call = async (name, given) => {
  console.log(`> ${name} ${JSON.stringify(given)}`)
  const { content } = await ask('tools/call', { name, arguments: given })
  console.log(content[0].text.slice(0, 160))
}

await ask('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'coder', version: '1' },
})
send({ method: 'notifications/initialized' })
const { tools } = await ask('tools/list', {})
console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`)
await call('run', {})
await call('read', { path: 'src/sum.mjs' })
await call('write', { path: 'src/sum.mjs', text: 'export const sum = (a, b) => a + b\n' })
await call('run', {})
await call('push', { branch: 'main', message: 'Mend sum' })
gate.kill()
