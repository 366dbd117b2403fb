// The same agent on DBOS, as its users write it: a workflow whose steps are the completions and the tool calls. PORT DATABASE MODEL
import http from 'node:http'
import { DBOS } from '@dbos-inc/dbos-sdk'

const [port, database, model] = process.argv.slice(2)
const tools = [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }]

async function complete(name, messages) {
  const response = await fetch(`${model}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: name, messages, tools }),
  })
  return (await response.json()).choices[0].message
}
const look = async () => ({ seen: 1 })

const agent = DBOS.registerWorkflow(
  async (name) => {
    const messages = [
      { role: 'system', content: 'Answer.' },
      { role: 'user', content: 'Hello.' },
    ]
    for (let turn = 0; turn < 20; turn++) {
      const message = await DBOS.runStep(() => complete(name, messages), { name: `completion ${turn}` })
      messages.push(message)
      if (!message.tool_calls?.length) return message.content
      for (const call of message.tool_calls) {
        const value = await DBOS.runStep(look, { name: `call ${call.id}` })
        messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(value) })
      }
    }
    throw new Error('The agent did not end.')
  },
  { name: 'agent' },
)

DBOS.setConfig({
  name: 'bench',
  executorID: `bench-${port}`,
  systemDatabaseUrl: database,
  logLevel: 'error',
  runAdminServer: false,
})
await DBOS.launch()
http
  .createServer((request, response) => {
    request.resume()
    if (request.method === 'GET') return response.end('{}')
    DBOS.startWorkflow(agent)(request.url.slice(1))
      .then((handle) => handle.getResult())
      .then((output) => response.end(JSON.stringify({ output })))
      .catch((error) => response.writeHead(500).end(String(error)))
  })
  .listen(Number(port), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
