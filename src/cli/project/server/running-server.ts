/**
 * The server that holds a data directory: `server.json`, where it says how it listens, and its Unix socket. The server writes the file,
 * 0600.
 */
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { readFile, rm } from 'node:fs/promises'
import { makeDirectory } from '../../../base/files/make-directory.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'

export interface FoundServerFile {
  readonly pid: number
  readonly url: string
  readonly uploadUrl: string
  /** Null where the console is off. */
  readonly consoleUrl: string | null
  readonly adminSocket: string | null
  /** The key that `svc dev` made; with it the client commands need no other. */
  readonly key?: { readonly secret: string; readonly agent: string }
}

/** Undefined where no server has written one. */
export async function readServerFile(dataDirectory: string): Promise<FoundServerFile | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDirectory, 'server.json'), 'utf8')) as FoundServerFile
  } catch {
    return undefined
  }
}

/** Readers never see half of it. */
export async function replaceServerFile(dataDirectory: string, file: FoundServerFile): Promise<void> {
  const path = join(dataDirectory, 'server.json')
  makeDirectory(dataDirectory, 0o700)
  await writeUserFile(path, `${JSON.stringify(file, null, 2)}\n`, 0o600)
}

export const deleteServerFile = (dataDirectory: string): Promise<void> =>
  rm(join(dataDirectory, 'server.json'), { force: true })

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
