/** A receiver of webhooks on loopback that answers as a test says. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closing } from '../running.ts'

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly path: string
}

export async function startReceiver(
  answer: (request: ReceivedWebhook, response: ServerResponse, count: number) => void = (_, response) =>
    void response.writeHead(204).end(),
) {
  const received: ReceivedWebhook[] = []
  const listeners = new Set<() => void>()
  const server = createServer((message, response) => void handle(message, response))
  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of message.setEncoding('utf8')) body += chunk
    const request = { headers: message.headers, body, path: message.url ?? '' }
    received.push(request)
    answer(request, response, received.length)
    for (const listener of listeners) listener()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  /** Resolves once this holds for what was received. */
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, until }
}
