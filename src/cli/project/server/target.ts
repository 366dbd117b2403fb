/**
 * How client commands reach the API: with the given address and key, or inside a project as the operator over the same routes,
 * so that no key is needed to look at a run. Source: docs/design/command-line.md#planes
 */
import { fail } from '../../../base/failure.ts'
import { parseCertainAddress, showAddress } from '../../../base/net/show-address.ts'
import { SvcClient } from '../../../client/index.ts'
import type { CommandContext } from '../../shell/command.ts'
import { OPERATOR_URL, openOperatorChannel, type OperatorClient } from './operator.ts'
import { findApiKey } from '../profile.ts'
import { openProject, type Project } from '../project.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { resolveAgent, splitVersion } from '../reference.ts'
import { readServerFile } from './running-server.ts'

/** Lifetime of a key that is created for one command. */
const KEY_SECONDS = 24 * 60 * 60

/** Longest `Retry-After` that is waited for: a server that asks for more lacks something for long, such as room on its disk. */
const PATIENCE_MS = 5000

export interface ServerTarget {
  readonly client: SvcClient
  /** Sends decisions of people: as the operator if possible, else with the key. */
  readonly answering: SvcClient
  /** Absent if a key was given: then only /v1 is available. */
  readonly operator?: OperatorClient
  close(): Promise<void>
}

/** Opens the API for commands that read, follow and answer runs. */
export async function openTarget(call: CommandContext, project: Project): Promise<ServerTarget> {
  // A credential given as a flag takes precedence over a key in the environment.
  const asOperator = call.globals.operatorKeyFile !== undefined && call.globals.keyFile === undefined
  const key = asOperator ? undefined : await findApiKey(call, project.target)
  if (key !== undefined) {
    const client = createClient(call, await baseUrl(call, project), key)
    return { client, answering: client, close: async () => undefined }
  }
  // `--url` names the operator listener where there is a credential for it, as for the commands of operators.
  const namesOperator = project.operatorUrl !== undefined && (await project.operatorKey()) !== undefined
  if (!namesOperator && project.target?.host === undefined) {
    if (givenUrl(call, project) !== undefined)
      throw fail('missing_api_key', undefined, { fix: 'Give the key of that address with SVC_API_KEY or --key-file.' })
    if (!project.anchored)
      throw fail('missing_api_key', undefined, {
        fix: 'Give a key with SVC_API_KEY or --key-file; inside a project, or with --data DIR, none is needed.',
      })
  }
  return operatorTarget(await openOperatorChannel(project, call.io), call)
}

function operatorTarget(operator: OperatorClient, { io }: CommandContext): ServerTarget {
  const client = operatorClient(operator, io.fetch)
  return { client, answering: client, operator, close: () => operator.close() }
}

/** Opens the API of the project around, for the duration of `work`. */
export async function withTarget<T>(call: CommandContext, work: (target: ServerTarget) => Promise<T>): Promise<T> {
  return await withTargetOf(await openProject(call), call, work)
}

/** The same for a project that is open. */
export async function withTargetOf<T>(
  project: Project,
  call: CommandContext,
  work: (target: ServerTarget) => Promise<T>,
): Promise<T> {
  const target = await openTarget(call, project)
  try {
    return await work(target)
  } finally {
    await target.close()
  }
}

/**
 * Opens the API with a short-lived key for the agent's API trigger, since starts are counted and listed by trigger. An agent
 * without an API trigger is started by the operator.
 * @throws Failure `no_server`
 */
export async function openAgentTarget(call: CommandContext, project: Project, agent: string): Promise<ServerTarget> {
  const elsewhere = !project.anchored || givenUrl(call, project) !== undefined || project.target?.host !== undefined
  if ((await findApiKey(call, project.target)) !== undefined || elsewhere) return openTarget(call, project)
  const running = await readServerFile(project.dataDirectory)
  const operator = await openOperatorChannel(project, call.io)
  try {
    const { url } = await operator.call('GET /status', {})
    if (url === null) throw fail('no_server', { url: running?.url ?? project.dataDirectory })
    const { items } = await operator.call('GET /triggers', { query: { agent } }).catch(async (error: unknown) => {
      // Throws a failure that suggests a similar name.
      await resolveAgent(splitVersion(agent).name, operator)
      throw error
    })
    const trigger = items.find((each) => each.type === 'api' && each.active)
    // A person with a credential starts the run under that identity, which separation of duties needs.
    if (!trigger || (await project.operatorKey()) !== undefined) return operatorTarget(operator, call)
    const { secret, close } = await openKey(operator, agent, trigger.triggerId)
    return {
      client: createClient(call, url, secret),
      answering: operatorClient(operator, call.io.fetch),
      operator,
      close,
    }
  } catch (error) {
    await operator.close()
    throw error
  }
}

/** Creates a key for one command, in the name of the operator. `close` revokes it and closes the operator's channel. */
export async function openKey(
  operator: OperatorClient,
  agent: string,
  trigger: string,
): Promise<{ readonly secret: string; readonly close: () => Promise<void> }> {
  const body = { agent, trigger, allowUploads: true, oneCommand: true, expiresInSeconds: KEY_SECONDS }
  const { secret, keyId } = await operator.call('POST /keys', { body })
  return {
    secret,
    async close() {
      // A key that outlives its command is only a risk. A key that is gone already is no error.
      await operator.call('POST /keys/:id/revoke', { id: keyId, body: undefined }).catch(() => undefined)
      await operator.close()
    },
  }
}

function createClient(call: CommandContext, url: string, apiKey: string): SvcClient {
  return new SvcClient({ apiKey, baseUrl: url, fetch: call.io.fetch, maxRetryAfterMs: PATIENCE_MS })
}

/** The client over the operator's channel, which serves the routes of `/v1` to the operator and never redacts. */
export const operatorClient = (operator: OperatorClient, fetch: typeof globalThis.fetch): SvcClient =>
  new SvcClient({
    // The channel identifies the operator.
    apiKey: null,
    baseUrl: OPERATOR_URL,
    maxRetryAfterMs: PATIENCE_MS,
    // Files go to the storage itself, at the address that the server gave.
    fetch: (input, init) =>
      input.startsWith(`${OPERATOR_URL}/`) ? operator.send(new Request(input, init)) : fetch(input, init),
  })

/** Sends a request for a route of `/v1` over the operator's channel. */
export const sendToOperator = (
  operator: OperatorClient,
  method: string,
  path: string,
  body?: string,
): Promise<Response> =>
  operator.send(
    new Request(new URL(path, OPERATOR_URL), {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    }),
  )

/** The base address from a flag, the environment or the profile. */
export const givenUrl = (
  { globals, io }: Pick<CommandContext, 'globals' | 'io'>,
  { target }: Project,
): string | undefined => globals.url ?? (globals.profile === undefined ? io.env['SVC_URL'] || target?.url : target?.url)

/** @throws Failure `usage` for a given address that is none, or has a user or password */
export async function baseUrl(call: Pick<CommandContext, 'globals' | 'io'>, project: Project): Promise<string> {
  const given = givenUrl(call, project)
  if (given !== undefined) return checkServerUrl(given)
  const running = await readServerFile(project.dataDirectory)
  return running?.url ?? `http://127.0.0.1:${project.config.dev?.port ?? 4310}`
}

/** Requests take no user and password in an address, and whoever reports one would show them. */
function checkServerUrl(text: string): string {
  const url = parseCertainAddress(text)
  if (url && /^https?:$/.test(url.protocol) && url.host !== '' && url.username === '' && url.password === '')
    return text
  throw usageFailure(
    `What --url, SVC_URL or the profile says is no http or https address, or has a user in it: ${showAddress(text)}.`,
    'http://127.0.0.1:4310; the key of a request comes from --key-file or SVC_API_KEY',
  )
}
