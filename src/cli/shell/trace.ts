/** What `--debug` shows of HTTP: each request and its answer on stderr, secrets masked. */
import type { OutputSink } from '../../terminal/screen.ts'
import { safeBlock, truncateText } from '../../terminal/text.ts'

type Send = (request: Request) => Promise<Response>

/** Characters of a body that are shown. */
const SHOWN = 2000

/** Secrets of ours, and values under names that announce one. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_[A-Za-z0-9]{8,}\b/g, 'svc_***'],
  [/("[^"]*(?:secret|token|password|api_?key)[^"]*"\s*:\s*)"[^"]*"/gi, '$1"***"'],
]
const SECRET_HEADERS = /^(?:x-api-key|x-operator-key|authorization|cookie|set-cookie|proxy-authorization)$/i
const SECRET_PARAMETERS = /([?&](?:X-Amz-Signature|X-Amz-Credential|[^=&]*(?:token|key|secret))=)[^&]*/gi

export const traceRequests =
  (send: Send, stderr: OutputSink): Send =>
  async (request) => {
    const tell = (line: string): void => stderr.write(`${line}\n`)
    tell(`> ${request.method} ${request.url.replace(SECRET_PARAMETERS, '$1***')}`)
    tellHeaders(request.headers, '>', tell)
    if (isJson(request.headers)) tellBody(await request.clone().text(), '>', tell)
    const response = await send(request)
    tell(`< ${response.status} ${response.statusText}`.trimEnd())
    tellHeaders(response.headers, '<', tell)
    if (isJson(response.headers)) tellBody(await response.clone().text(), '<', tell)
    return response
  }

export const tracedFetch =
  (fetch: typeof globalThis.fetch, stderr: OutputSink): typeof globalThis.fetch =>
  async (input, init) => {
    // A body that is a stream can be read once: it is sent, and nothing of it is shown.
    const body = init?.body
    const shown = typeof body === 'string' ? { ...init } : { ...init, body: null }
    const request = new Request(input, shown)
    return await traceRequests(async () => await fetch(input, init), stderr)(request)
  }

const isJson = (headers: Headers): boolean => headers.get('content-type')?.startsWith('application/json') ?? false

function tellHeaders(headers: Headers, mark: string, tell: (line: string) => void): void {
  for (const [name, value] of headers) tell(`${mark} ${name}: ${SECRET_HEADERS.test(name) ? '***' : masked(value)}`)
}

function tellBody(text: string, mark: string, tell: (line: string) => void): void {
  if (text !== '') tell(`${mark} ${truncateText(masked(text), SHOWN)}`)
}

const masked = (text: string): string =>
  SECRETS.reduce((masking, [pattern, instead]) => masking.replace(pattern, instead), safeBlock(text))
