/** HTTPS in front of a development server, with a certificate of its own. Source: docs/design/command-line.md#serving */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'

export interface HttpsProxy {
  readonly url: string
  /** Prints the address as a QR code on stdout. */
  printQrCode(): Promise<void>
  close(): Promise<void>
}

/**
 * @param target address of the API
 * @param secure false for plain HTTP, where only the QR code is wanted
 */
export async function openDevProxy(target: string, host: string, secure: boolean): Promise<HttpsProxy> {
  const { listen } = await import('listhen')
  const listener = await listen(forwardTo(target), {
    port: 0,
    hostname: host,
    https: secure,
    showURL: false,
    ws: false,
    autoClose: false,
    clipboard: false,
    open: false,
    isTest: false,
  })
  return {
    url: listener.url.replace(/\/$/, ''),
    printQrCode: async () => {
      await listener.showURL({ qr: true })
    },
    close: () => listener.close(),
  }
}

/** Forwards requests unchanged; the API checks Host and key. */
function forwardTo(target: string): (request: IncomingMessage, response: ServerResponse) => void {
  const { hostname, port } = new URL(target)
  return (request, response) => {
    const { method, url, headers } = request
    const onward = httpRequest({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  }
}
