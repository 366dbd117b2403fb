/**
 * The API as client commands reach it: an address and a key that were given; else, inside a project, the operator's own
 * authority over the same routes, so that nobody has to make a key to look at a run. Source: command line, 1.1.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fail } from '../base/failure.ts'
import { SvcClient } from '../client/index.ts'
import type { Call } from './command.ts'
import { OPERATOR_URL, openOperator, type Operator } from './operator.ts'
import type { Project } from './project.ts'
import { agentOf, splitVersion } from './reference.ts'
import { readServerFile } from './server-file.ts'

/** How long a key lives that is made for one command. */
const KEY_SECONDS = 24 * 60 * 60

export interface Target {
  readonly client: SvcClient
  /** What people decide goes through this one: the operator's authority, else the key's. */
  readonly answering: SvcClient
  /** Absent where a key was given: nothing but /v1 is spoken then. */
  readonly operator?: Operator
  close(): Promise<void>
}

/** Runs, conversations, streams and answers. */
export async function openTarget(call: Call, project: Project): Promise<Target> {
  const key = await givenKey(call)
  if (key !== undefined) {
    const client = createClient(call, await baseUrl(call, project), key)
    return { client, answering: client, close: async () => undefined }
  }
  if (call.globals.url ?? call.io.env['SVC_URL'])
    throw fail('missing_api_key', undefined, { fix: 'Give the key of that address with SVC_API_KEY or --key-file.' })
  return operatorTarget(await openOperator(project, call.io))
}

function operatorTarget(operator: Operator): Target {
  const client = operatorClient(operator)
  return { client, answering: client, operator, close: () => operator.close() }
}

/**
 * The API with a short-lived key for the agent's API trigger, since starts are counted and shown by trigger. An agent
 * without one is started by the operator.
 * @throws Failure `no_server`
 */
export async function openAgentTarget(call: Call, project: Project, agent: string): Promise<Target> {
  if ((await givenKey(call)) !== undefined || call.globals.url !== undefined) return openTarget(call, project)
  const running = await readServerFile(project.dataDirectory)
  const operator = await openOperator(project, call.io)
  try {
    const { url } = await operator.call('GET /status', {})
    if (url === null) throw fail('no_server', { url: running?.url ?? project.dataDirectory })
    const { items } = await operator.call('GET /triggers', { query: { agent } }).catch(async (error: unknown) => {
      // Says which name was meant, where one is near.
      await agentOf(splitVersion(agent).name, operator)
      throw error
    })
    const trigger = items.find((each) => each.type === 'api' && each.active)
    if (!trigger) return operatorTarget(operator)
    const body = { agent, trigger: trigger.triggerId, allowUploads: true, name: 'svc', expiresInSeconds: KEY_SECONDS }
    const { secret, keyId } = await operator.call('POST /keys', { body })
    return {
      client: createClient(call, url, secret),
      answering: operatorClient(operator),
      operator,
      async close() {
        // A key that outlives its command would only be a risk. One that is gone already is no error.
        await operator.call('POST /keys/:id/revoke', { id: keyId, body: undefined }).catch(() => undefined)
        await operator.close()
      },
    }
  } catch (error) {
    await operator.close()
    throw error
  }
}

function createClient(call: Call, url: string, apiKey: string): SvcClient {
  const { io, mode } = call
  return new SvcClient({
    apiKey,
    baseUrl: url,
    fetch: io.fetch,
    ...(mode.debug && { onResponse: (each) => io.stderr.write(`${each.method} ${each.url} ${each.status}\n`) }),
  })
}

/** The client's methods over the operator's routes: same paths without `/v1`, same bodies, never redacted. */
export const operatorClient = (operator: Operator): SvcClient =>
  new SvcClient({
    apiKey: 'operator',
    baseUrl: OPERATOR_URL,
    fetch: async (input, init) => operator.send(await toOperator(new Request(input, init))),
  })

async function toOperator(request: Request): Promise<Request> {
  const url = new URL(request.url)
  const start = /^\/v1\/agents\/([^/]+)\/runs$/.exec(url.pathname)
  url.pathname = start ? '/runs' : url.pathname.replace(/^\/v1/, '')
  const seen = request.headers.get('last-event-id')
  if (seen !== null) url.searchParams.set('after', seen)
  const { method, headers, signal } = request
  if (method !== 'POST') return new Request(url, { method, headers, signal })
  const body = await request.text()
  const given = start ? JSON.stringify({ agent: start[1], input: {}, ...(JSON.parse(body) as object) }) : body
  return new Request(url, { method, headers, signal, body: given })
}

async function baseUrl({ globals, io }: Call, project: Project): Promise<string> {
  const given = globals.url ?? io.env['SVC_URL']
  if (given) return given
  const running = await readServerFile(project.dataDirectory)
  return running?.url ?? `http://127.0.0.1:${project.config.dev?.port ?? 4310}`
}

/** `--key-file`, `SVC_API_KEY`, `SVC_KEY_FILE`, in this order. */
export async function givenKey({ cwd, globals, io }: Call): Promise<string | undefined> {
  if (globals.keyFile !== undefined) return await keyIn(cwd, globals.keyFile, io)
  if (io.env['SVC_API_KEY']) return io.env['SVC_API_KEY']
  const file = io.env['SVC_KEY_FILE']
  return file ? await keyIn(cwd, file, io) : undefined
}

async function keyIn(cwd: string, file: string, io: Call['io']): Promise<string> {
  const text = file === '-' ? await io.stdin.text() : await readFile(resolve(cwd, file), 'utf8').catch(() => '')
  if (text.trim() === '') throw fail('usage', { what: `There is no key in ${file}.` })
  return text.trim()
}
