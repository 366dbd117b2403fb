/** A server with the console, and requests to it as a browser sends them, but without one. */
import { openServer, type RunningServer, type ServerOptions } from '../../src/server/open.ts'
import { ask, closing, options } from '../server/running.ts'

export async function openWithConsole(given: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await openServer({ ...options(), ...given, console: given.console ?? { port: 0 } })
  closing(() => server.close())
  return server
}

/** The one-time code of an address that `svc console` prints. */
export async function newCode(server: RunningServer): Promise<string> {
  const { url } = await ask(server.operator, 'POST /console/codes')
  return new URL(url).hash.slice('#code='.length)
}

export interface ConsoleResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/**
 * @param cookie of the session; without it nobody is signed in
 * @param pageKey the half of the session that the page keeps
 */
export function asBrowser(url: string, cookie?: string, pageKey?: string) {
  return async (
    line: string,
    { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string | undefined> } = {},
  ): Promise<ConsoleResponse> => {
    const [method, path] = line.split(' ') as [string, string]
    const sent: Record<string, string | undefined> = {
      accept: 'application/json',
      'x-svc-console': '1',
      ...(method !== 'GET' && { 'content-type': 'application/json', origin: url }),
      ...(cookie !== undefined && { cookie }),
      ...(pageKey !== undefined && { 'x-svc-page-key': pageKey }),
      ...headers,
    }
    const given = Object.entries(sent).filter((pair): pair is [string, string] => pair[1] !== undefined)
    const response = await fetch(url + path, {
      method,
      headers: given,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : { text } }
  }
}

/** Signs in with a code, or with the credential of a person. @returns requests of that browser, and its cookie */
export async function signedIn(server: RunningServer, key?: string) {
  const url = server.consoleUrl!
  const proof = key === undefined ? { code: await newCode(server) } : { key }
  const { headers, status, body } = await asBrowser(url)('POST /sign-in', { body: proof })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  const { pageKey } = body as { pageKey: string }
  return { send: asBrowser(url, cookie, pageKey), cookie, pageKey, setCookie: headers.get('set-cookie')! }
}
