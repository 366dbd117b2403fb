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

/** Answers of the model `talks` with one piece of text each, and pieces of the answer after them. */
export const TALKS = { paced: 80, pieces: 1000 }

/**
 * The name of the model says how many tools a run calls, `tools-3`, that it sends text in pieces, `pieces`, or that it asks a
 * person after each answer, `talks`.
 * @param script calls of the model `script`, one after another
 */
export async function startModel(script: readonly ScriptedCall[] = []): Promise<Model> {
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
      if (text.includes('"model":"talks"')) return void talk(response, text.split('"role":"tool"').length - 1)
      const done = text.split('"role":"tool"').length - 1
      if (text.includes('"model":"script"')) return void response.writeHead(200, EVENTS).end(answerOf(script, done))
      const tools = Number(/"model":"tools-(\d+)"/.exec(text)?.[1] ?? 0)
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
  response.writeHead(200, EVENTS)
  for (let sent = 0; sent < PIECES; sent++) {
    response.write(chunk({ delta: { role: 'assistant', content: 'four words a piece ' } }))
    await pause(PIECE_MS)
  }
  response.end(SAYS)
}

export interface ScriptedCall {
  readonly tool: string
  readonly arguments: object
}

const EVENTS = { 'content-type': 'text/event-stream' }
const answerOf = (script: readonly ScriptedCall[], done: number): string => {
  const next = script[done]
  return next ? toolCall(done + 1, next.tool, JSON.stringify(next.arguments)) : SAYS
}

/** Text, and after a moment the question of `ask_user`: a vendor's model does not end in the packet of its first word either. */
async function talk(response: ServerResponse, answers: number): Promise<void> {
  response.writeHead(200, EVENTS)
  const pieces = answers === 0 ? 0 : answers <= TALKS.paced ? 1 : TALKS.pieces
  response.write(chunk({ delta: { role: 'assistant', content: 'four words a piece ' } }).repeat(pieces))
  await pause(PIECE_MS)
  response.end(toolCall(answers, 'ask_user', '{"message":"Well?"}'))
}

const toolCall = (id: number, name: string, written: string): string => {
  const made = [{ index: 0, id: `call_${id}`, type: 'function', function: { name, arguments: written } }]
  return `${chunk({ delta: { tool_calls: made } })}${chunk({ delta: {}, finish_reason: 'tool_calls' }, USAGE)}data: [DONE]\n\n`
}

function respond(response: ServerResponse, call: number): void {
  response.writeHead(200, EVENTS)
  if (call === 0) return void response.end(SAYS)
  response.end(toolCall(call, 'look', `{"n":${call}}`))
}

/** To callers that ask for no stream. */
function respondAtOnce(response: ServerResponse, call: number): void {
  const made = { id: `call_${call}`, type: 'function', function: { name: 'look', arguments: `{"n":${call}}` } }
  const message =
    call === 0 ? { role: 'assistant', content: 'ok' } : { role: 'assistant', content: null, tool_calls: [made] }
  const choices = [{ index: 0, message, finish_reason: call === 0 ? 'stop' : 'tool_calls' }]
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
}
