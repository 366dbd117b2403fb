/** A listener on a loopback address, to which the authorization server sends the browser back. Source: RFC 8252, 7.3. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fail } from '../../base/failure.ts'
import { describeBindError } from '../../base/net/bind-error.ts'

export interface RedirectListener {
  readonly redirectUri: string
  /**
   * The first answer that fits. Others, of a page that guessed the address for example, are refused and end nothing.
   * @throws the reason of the signal
   */
  next(fits: (answer: URLSearchParams) => boolean, signal: AbortSignal): Promise<URLSearchParams>
  close(): void
}

const HOST = '127.0.0.1'
const PATH = '/callback'

/** @param port 0 for a free one @throws Failure `port_taken` */
export async function listenForRedirect(port: number): Promise<RedirectListener> {
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 })
  server.maxConnections = 32
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, HOST, resolve)
    })
  } catch (error) {
    throw fail(
      'port_taken',
      { host: HOST, port, why: describeBindError(error as NodeJS.ErrnoException) },
      { cause: error },
    )
  }
  const redirectUri = `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`
  return {
    redirectUri,
    next: (fits, signal) => nextAnswer(server, fits, signal),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function nextAnswer(
  server: Server,
  fits: (answer: URLSearchParams) => boolean,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', `http://${HOST}`)
      const isAnswer = request.method === 'GET' && pathname === PATH && fits(searchParams)
      response.writeHead(isAnswer ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        'content-security-policy': "default-src 'none'",
        // The address has the code.
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        connection: 'close',
      })
      if (!isAnswer) return void response.end('svc does not wait for this.\n')
      response.end('svc has the answer: the terminal says what became of it. You can close this page.\n', () => {
        signal.removeEventListener('abort', stop)
        resolve(searchParams)
      })
    })
  })
}
