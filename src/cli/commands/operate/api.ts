import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { openRawApi, type RawApi } from '../../project/server/raw-api.ts'
import type { CommandContext } from '../../shell/command.ts'
import { exitOfCode } from '../../shell/exit.ts'
import { parseJsonInput, readText } from '../../runs/input.ts'
import { openProject } from '../../project/project.ts'
import { remoteError } from '../../../client/remote-error.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Items per page of `--paginate`. */
const PAGE = 500

/** Prints the answer unchanged, whatever its status; the exit code reports the status. */
export async function api(call: CommandContext<unknown>): Promise<number> {
  const { given, mode, out, io } = call
  const method = given.required(0).toUpperCase()
  if (!METHODS.includes(method))
    throw usageFailure(`"${given.argument(0)}" is not a method.`, `One of ${METHODS.join(', ')}.`)
  const path = pathOf(given.required(1))
  const request = await requestOf(call, method, path)
  const raw = await openRawApi(call, await openProject(call), request.path)
  try {
    const response = await raw.send(method, request.path, request.body)
    if (given.flag('include')) out.line(headOf(response))
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) return await copyStream(call, response)
    let text = await response.text()
    if (given.flag('paginate') && response.ok) text = await followPages(raw, request.path, text)
    if (text !== '') await print(call, text)
    return exitOf(response, text, `${method} ${path}`)
  } finally {
    await raw.close()
  }

  async function print({ given: asked }: CommandContext, text: string): Promise<void> {
    const filters = mode.jq !== undefined || mode.fields !== undefined
    const value = readable(text)
    if (value !== undefined && (filters || (io.stdout.isTTY && !asked.flag('include')))) return await out.json(value)
    out.line(text.replace(/\n$/, ''))
  }
}

function pathOf(typed: string): string {
  const path = typed.startsWith('/') ? typed : `/${typed}`
  if (!/^\/v1(?:\/|$)/.test(path))
    throw usageFailure(`${path} is not a path of the API.`, 'Its paths begin with /v1/; svc openapi lists them.')
  return path
}

/** Pairs become the query of a GET and the body of other requests. */
async function requestOf(
  call: CommandContext,
  method: string,
  path: string,
): Promise<{ readonly path: string; readonly body?: string }> {
  const { given } = call
  const pairs = await Promise.all(given.rest(2).map((pair) => readPair(call, pair)))
  const input = given.text('input')
  const reads = method === 'GET' || method === 'HEAD'
  if (reads) {
    if (input !== undefined) throw usageFailure(`A ${method} has no body for --input.`)
    const url = new URL(path, 'http://api')
    for (const [name, value] of pairs)
      url.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value))
    return { path: url.pathname + url.search }
  }
  if (input !== undefined && pairs.length === 0) return { path, body: await readInput(call, input) }
  const whole = input === undefined ? {} : parseJsonInput(await readInput(call, input), `The input in ${input}`)
  if (!isJsonObject(whole)) throw usageFailure('Pairs go into an object; the input is none.')
  return { path, body: JSON.stringify({ ...whole, ...Object.fromEntries(pairs) }) }
}

const readInput = async (call: CommandContext, file: string): Promise<string> =>
  file === '-' ? await call.io.stdin.text() : await readText(file, call)

async function readPair(call: CommandContext, pair: string): Promise<readonly [string, JsonValue]> {
  const match = /^([^=:@]+)(:=|=<|=)(.*)$/s.exec(pair)
  if (!match) throw usageFailure(`"${pair}" is not a parameter.`, 'Write key=text, key:=json or key=<file.')
  const [, name = '', operator, text = ''] = match
  if (operator === ':=') return [name, parseJsonInput(text, `The value of ${name}`)]
  return [name, operator === '=<' ? await readText(text, call) : text]
}

async function copyStream({ io }: CommandContext, response: Response): Promise<number> {
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) io.stdout.write(decoder.decode(chunk as Uint8Array, { stream: true }))
  return 0
}

/** One document with the items of all pages. */
async function followPages(raw: RawApi, path: string, first: string): Promise<string> {
  const page = readable(first)
  if (!isJsonObject(page) || !Array.isArray(page['items'])) return first
  const items = [...page['items']]
  const url = new URL(path, 'http://api')
  const start = Number(url.searchParams.get('skip') ?? 0)
  for (let more = items.length > 0; more;) {
    url.searchParams.set('skip', String(start + items.length))
    url.searchParams.set('take', String(PAGE))
    const response = await raw.send('GET', url.pathname + url.search)
    const text = await response.text()
    if (!response.ok) throw remoteError(response.status, `GET ${url.pathname}`, text)
    const next = readable(text) as JsonObject
    const found = Array.isArray(next['items']) ? next['items'] : []
    items.push(...found)
    more = found.length > 0
  }
  return JSON.stringify({ ...page, items })
}

const headOf = ({ status, statusText, headers }: Response): string =>
  [`HTTP/1.1 ${status} ${statusText}`.trim(), ...[...headers].map(([name, value]) => `${name}: ${value}`), ''].join(
    '\n',
  )

function readable(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function exitOf(response: Response, text: string, request: string): number {
  if (!response.ok) return remoteError(response.status, request, text).exit
  const body = readable(text)
  // A rejected answer to a run has status 202 and an error in its body. In other bodies `error` is that of the run.
  const answers = /^POST .*\/(?:input|messages)(?:\?|$)/.test(request)
  if (!answers || !isJsonObject(body) || typeof body['error'] !== 'string') return 0
  return exitOfCode(typeof body['code'] === 'string' ? body['code'] : undefined)
}
