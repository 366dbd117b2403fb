import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a fake model server answers to one request. */
export interface FakeAnswer {
  readonly say?: string
  /** `whole`: arguments as JSON text that comes in one piece (Anthropic only). */
  readonly calls?: readonly {
    readonly id?: string
    readonly name: string
    readonly arguments: unknown
    readonly whole?: string
  }[]
  readonly usage?: {
    readonly input: number
    readonly output: number
    readonly cached?: number
    readonly written?: number
    readonly reasoning?: number
  }
  /** Reasoning before the answer, with what proves it to the vendor. */
  readonly thinking?: { readonly text: string; readonly signature: string }
  /** Further blocks after the text, as the vendor's own tools make them (Anthropic only). */
  readonly blocks?: readonly object[]
  readonly finish?: string
  /** An HTTP error in place of an answer. */
  readonly status?: number
  readonly error?: { readonly type?: string; readonly code?: string; readonly param?: string; readonly message: string }
  /** The body as it is, in place of an answer in the vendor's form. */
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The connection is cut before the answer is complete. */
  readonly cut?: boolean
  /** Nothing more comes after the first text. */
  readonly hang?: boolean
}

export interface FakeRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: any
}

export type FakeScript = readonly FakeAnswer[] | ((request: FakeRequest, number: number) => FakeAnswer)

export interface FakeModel {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string
  readonly requests: readonly FakeRequest[]
  close(): Promise<void>
}

/** A loopback server that answers request n with answer n of the script (the last one again when they run out). */
export async function startFakeModel(
  script: FakeScript,
  write: (answer: FakeAnswer, response: ServerResponse, request: FakeRequest) => void,
): Promise<FakeModel> {
  const requests: FakeRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const seen: FakeRequest = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null'),
      }
      requests.push(seen)
      const answer =
        typeof script === 'function'
          ? script(seen, requests.length)
          : (script[requests.length - 1] ?? script.at(-1) ?? { say: 'ok' })
      if (answer.raw === undefined) write(answer, response, seen)
      else response.writeHead(200, { 'content-type': 'text/html', ...answer.headers }).end(answer.raw)
    })
  })
  return { url: await listen(server), requests, close: () => stop(server) }
}

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

/** A few characters a piece, so that readers see several. */
export const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,7}/g) ?? []
