/** A model server that costs as little as a model server can: it calls one tool after another, then says "ok". */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Model {
  readonly url: string
  /** Completions asked for so far. */
  asked(): number
  /** While true nobody is answered. */
  hang(on: boolean): void
  close(): Promise<void>
}

/** Pieces of text in the answer of the model `pieces`, and milliseconds between two of them. */
export const PIECES = 200
const PIECE_MS = 20

/** The name of the model says how many tools a run calls, `tools-3`, or that it sends text in pieces, `pieces`. */
export async function startModel(): Promise<Model> {
  let asked = 0
  let hanging = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked++
      if (hanging) return
      const text = Buffer.concat(chunks).toString()
      if (text.includes('"model":"pieces"')) return void sendPieces(response)
      const tools = Number(/"model":"tools-(\d+)"/.exec(text)?.[1] ?? 0)
      const done = text.split('"role":"tool"').length - 1
      const call = done < tools ? done + 1 : 0
      if (text.includes('"stream":true')) respond(response, call)
      else respondAtOnce(response, call)
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: () => asked,
    hang: (on) => void (hanging = on),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const chunk = (choice: object, more = ''): string =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[${JSON.stringify({ index: 0, finish_reason: null, ...choice })}]${more}}\n\n`
const USAGE = ',"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25}'
const SAYS = `${chunk({ delta: { role: 'assistant', content: 'ok' } })}${chunk({ delta: {}, finish_reason: 'stop' }, USAGE)}data: [DONE]\n\n`

async function sendPieces(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let sent = 0; sent < PIECES; sent++) {
    response.write(chunk({ delta: { role: 'assistant', content: 'four words a piece ' } }))
    await pause(PIECE_MS)
  }
  response.end(SAYS)
}

const toolCall = (call: number) => ({
  id: `call_${call}`,
  type: 'function',
  function: { name: 'look', arguments: `{"n":${call}}` },
})

/** To callers that ask for no stream. */
function respondAtOnce(response: ServerResponse, call: number): void {
  const message =
    call === 0
      ? { role: 'assistant', content: 'ok' }
      : { role: 'assistant', content: null, tool_calls: [toolCall(call)] }
  const choices = [{ index: 0, message, finish_reason: call === 0 ? 'stop' : 'tool_calls' }]
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
}

function respond(response: ServerResponse, call: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (call === 0) return void response.end(SAYS)
  const made = [{ index: 0, ...toolCall(call) }]
  response.end(
    `${chunk({ delta: { tool_calls: made } })}${chunk({ delta: {}, finish_reason: 'tool_calls' }, USAGE)}data: [DONE]\n\n`,
  )
}
