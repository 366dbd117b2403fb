// Starts a refund, tells what happens as it happens and whom it waits for. Prints the output once a person has decided.
// Run: SVC_URL=http://127.0.0.1:4310 SVC_API_KEY=… npx tsx refund.ts AGENT_ID A-1042 180
import { isTerminal, pendingTasks, SvcClient } from '@svc-agents/client'

const [agentId = '', order = 'A-1042', amount = '180'] = process.argv.slice(2)
const client = new SvcClient({ apiKey: process.env['SVC_API_KEY'] ?? '', baseUrl: process.env['SVC_URL'] ?? '' })

// The same key twice is the same run: this program may be started again after a broken connection.
const input = { order, amount: Number(amount) }
const { runId } = await client.startRun(agentId, { input }, { idempotencyKey: `refund-${order}` })

for await (const event of client.streamRunEvents(runId)) {
  process.stderr.write(`${event.subject}\n`)
  if (event.subject !== 'engine.session.paused') continue
  for (const { userTaskId, content } of await pendingTasks(client, runId))
    process.stderr.write(`svc approve ${userTaskId}   ${JSON.stringify(content.arguments)}: ${content.reason}\n`)
}

const run = await client.getRun(runId)
if (!isTerminal(run.status) || run.error) throw new Error(run.error ?? run.status)
process.stdout.write(`${JSON.stringify(run.output)}\n`)
