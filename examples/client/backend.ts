// A web backend: the browser talks to it, it talks to svc. The API key never leaves it. Node's own server, nothing else.
//   POST /refunds {order, amount}          starts one               {id}
//   GET  /refunds/ID                       where it stands          {status, output, task}, once it pauses or ends
//   POST /refunds/ID/decision {approved}   what the person decided  {status}
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { answerTask, isNotFound, isWaiting, pendingTasks, SvcClient } from '@svc-agents/client'

const client = new SvcClient({ apiKey: process.env['SVC_API_KEY'] ?? '', baseUrl: process.env['SVC_URL'] ?? '' })
const agentId = process.env['SVC_AGENT'] ?? ''

async function answer(method: string, path: string, body: unknown): Promise<unknown> {
  const [, id, act] = /^\/refunds(?:\/([0-9a-f-]{36})(?:\/(decision))?)?$/.exec(path) ?? []
  if (method === 'POST' && path === '/refunds') {
    const { order, amount } = body as { order: string; amount: number }
    const { runId } = await client.startRun(agentId, { input: { order, amount } })
    return { id: runId }
  }
  if (method === 'GET' && id && !act) {
    // The request is held while the run works, for 20 seconds at most: a page that asks again and again hears of a pause at once.
    const { status, output } = await client.getRun(id, { waitSeconds: 20 })
    const [task] = isWaiting(status) ? await pendingTasks(client, id) : []
    return { status, output, ...(task && { task: { title: task.title, arguments: task.content.arguments } }) }
  }
  if (method === 'POST' && id && act) {
    const [task] = await pendingTasks(client, id)
    if (!task) return undefined
    // The digest of the arguments that were shown goes along, so that nothing else can be approved.
    const { status, error } = await answerTask(client, id, task, (body as { approved: boolean }).approved)
    return error === undefined ? { status } : { error }
  }
  return undefined
}

const server = createServer(async (request, response) => {
  const send = (status: number, value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  try {
    const body = request.method === 'POST' ? await json(request) : undefined
    const value = await answer(request.method ?? '', request.url ?? '', body)
    send(value === undefined ? 404 : 200, value ?? { error: 'There is nothing here.' })
  } catch (error) {
    // What svc says may name things that are not the browser's business.
    send(isNotFound(error) ? 404 : 502, { error: isNotFound(error) ? 'No such refund.' : 'Please try again later.' })
  }
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`)
})
