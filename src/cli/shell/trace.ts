/** `--debug`: prints each HTTP request and response on stderr, with secrets masked. */
import type { OutputSink } from '../../terminal/output-sink.ts'
import { safeBlock } from '../../base/text/escape-text.ts'
import { truncateText } from '../../terminal/text.ts'

type Send = (request: Request) => Promise<Response>

/** Longer bodies are cut. */
const MAX_BODY_CHARACTERS = 2000

/** Our own keys, and values under names such as `password`. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_[A-Za-z0-9]{8,}\b/g, 'svc_***'],
  [/("[^"]*(?:secret|token|password|api_?key)[^"]*"\s*:\s*)"[^"]*"/gi, '$1"***"'],
]
/** User and password before a host. */
const USERINFO = /^(\w+:\/\/)[^/]*@/
const SECRET_HEADERS = /^(?:x-api-key|x-operator-key|authorization|cookie|set-cookie|proxy-authorization)$/i
const SECRET_PARAMETERS = /([?&](?:X-Amz-Signature|X-Amz-Credential|[^=&]*(?:token|key|secret))=)[^&]*/gi

export const traceRequests =
  (send: Send, stderr: OutputSink): Send =>
  async (request) => {
    const writeLine = (line: string): void => stderr.write(`${line}\n`)
    writeLine(`> ${request.method} ${request.url.replace(USERINFO, '$1').replace(SECRET_PARAMETERS, '$1***')}`)
    writeHeaders(request.headers, '>', writeLine)
    if (isJson(request.headers)) writeBody(await request.clone().text(), '>', writeLine)
    const response = await send(request)
    writeLine(`< ${response.status} ${response.statusText}`.trimEnd())
    writeHeaders(response.headers, '<', writeLine)
    if (isJson(response.headers)) writeBody(await response.clone().text(), '<', writeLine)
    return response
  }

export const tracedFetch =
  (fetch: typeof globalThis.fetch, stderr: OutputSink): typeof globalThis.fetch =>
  async (input, init) => {
    // A stream can be read only once, so its body is not shown.
    const body = init?.body
    const shown = typeof body === 'string' ? { ...init } : { ...init, body: null }
    const request = new Request(input, shown)
    return await traceRequests(async () => await fetch(input, init), stderr)(request)
  }

const isJson = (headers: Headers): boolean => headers.get('content-type')?.startsWith('application/json') ?? false

function writeHeaders(headers: Headers, mark: string, writeLine: (line: string) => void): void {
  for (const [name, value] of headers)
    writeLine(`${mark} ${name}: ${SECRET_HEADERS.test(name) ? '***' : maskSecrets(value)}`)
}

function writeBody(text: string, mark: string, writeLine: (line: string) => void): void {
  if (text !== '') writeLine(`${mark} ${truncateText(maskSecrets(text), MAX_BODY_CHARACTERS)}`)
}

const maskSecrets = (text: string): string =>
  SECRETS.reduce((masking, [pattern, instead]) => masking.replace(pattern, instead), safeBlock(text))
