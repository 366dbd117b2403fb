/** The Unix socket of the server that holds a data directory. */
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { readServerFile } from './server-file.ts'

/** True while a server holds the data directory and answers. */
export const answersOperator = async (dataDirectory: string): Promise<boolean> =>
  await answersAt(await socketOf(dataDirectory))

export const socketOf = async (dataDirectory: string): Promise<string> =>
  (await readServerFile(dataDirectory))?.adminSocket ?? join(dataDirectory, 'admin.sock')

export const answersAt = (socketPath: string): Promise<boolean> =>
  new Promise((done) => {
    const probe = httpRequest(
      // A separate connection: a kept-alive one would delay the server's shutdown.
      { socketPath, path: '/status', headers: { host: 'operator.svc' }, timeout: 5000, agent: false },
      (response) => {
        response.resume()
        done(response.statusCode === 200)
      },
    )
    probe.on('error', () => done(false))
    probe.on('timeout', () => probe.destroy())
    probe.end()
  })

export function sendOverSocket(socketPath: string, request: Request): Promise<Response> {
  return new Promise((done, failed) => {
    const { pathname, search } = new URL(request.url)
    const headers = Object.fromEntries(request.headers)
    const sent = httpRequest(
      {
        socketPath,
        method: request.method,
        path: pathname + search,
        headers: { host: 'operator.svc', ...headers },
        signal: request.signal,
      },
      (response) => {
        const status = response.statusCode ?? 500
        const empty = status === 204 || status === 304
        if (empty) response.resume()
        done(
          new Response(empty ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>), {
            status,
            headers: Object.entries(response.headers).flatMap(([name, value]) =>
              value === undefined ? [] : [[name, String(value)] as [string, string]],
            ),
          }),
        )
      },
    )
    sent.on('error', failed)
    request.arrayBuffer().then((body) => sent.end(Buffer.from(body)), failed)
  })
}

/**
 * The answer of a running server to a GET, for callers that also work without one.
 * @throws if no server answers within `timeoutMs`
 */
export async function askRunning(dataDirectory: string, path: string, timeoutMs: number): Promise<unknown> {
  const url = new URL(path, 'http://operator.svc')
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await sendOverSocket(await socketOf(dataDirectory), new Request(url, { signal }))
  return await response.json()
}
