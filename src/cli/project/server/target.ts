/**
 * How client commands reach the API: with the given address and key, or inside a project as the operator over the same routes,
 * so that no key is needed to look at a run. Source: docs/design/command-line.md#planes
 */
import { fail } from '../../../base/failure.ts'
import { parseCertainAddress, showAddress } from '../../../base/net/show-address.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { createApiClient, operatorClient } from '../../../client/api-client.ts'
import type { SvcClient } from '../../../client/index.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { openProject, type Project } from '../project.ts'
import { resolveAgent, splitVersion } from '../reference.ts'
import { openOperatorChannel } from './operator.ts'
import { readServerFile } from './running-server.ts'

/** Lifetime of a key that is created for one command. */
const KEY_SECONDS = 24 * 60 * 60

export interface ServerTarget {
  readonly client: SvcClient
  /** Sends decisions of people: as the operator if possible, else with the key. */
  readonly answering: SvcClient
  /** Absent if a key was given: then only /v1 is available. */
  readonly operator?: OperatorClient
  close(): Promise<void>
}

/** Opens the API for commands that read, follow and answer runs. */
export async function openTarget(project: Project, io: CommandContext['io']): Promise<ServerTarget> {
  const key = await project.apiKey()
  if (key !== undefined) {
    const client = createApiClient(key, await apiAddress(project), io.fetch)
    return { client, answering: client, close: async () => undefined }
  }
  // `--url` names the operator listener where there is a credential for it, as for the commands of operators.
  const namesOperator = project.operatorUrl !== undefined && (await project.operatorKey()) !== undefined
  if (!namesOperator && project.target?.host === undefined) {
    if (project.apiUrl !== undefined)
      throw fail('missing_api_key', undefined, { fix: 'Give the key of that address with SVC_API_KEY or --key-file.' })
    if (!project.anchored)
      throw fail('missing_api_key', undefined, {
        fix: 'Give a key with SVC_API_KEY or --key-file; inside a project, or with --data DIR, none is needed.',
      })
  }
  return operatorTarget(await openOperatorChannel(project, io), io)
}

function operatorTarget(operator: OperatorClient, { fetch }: Pick<CommandContext['io'], 'fetch'>): ServerTarget {
  const client = operatorClient(operator, fetch)
  return { client, answering: client, operator, close: () => operator.close() }
}

/** Opens the API of the project around, for the duration of `work`. */
export async function withTarget<T>(call: CommandContext, work: (target: ServerTarget) => Promise<T>): Promise<T> {
  return await withTargetOf(await openProject(call), call, work)
}

/** The same for a project that is open. */
export async function withTargetOf<T>(
  project: Project,
  { io }: Pick<CommandContext, 'io'>,
  work: (target: ServerTarget) => Promise<T>,
): Promise<T> {
  const target = await openTarget(project, io)
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
export async function openAgentTarget(
  project: Project,
  io: CommandContext['io'],
  agent: string,
): Promise<ServerTarget> {
  const elsewhere = !project.anchored || project.apiUrl !== undefined || project.target?.host !== undefined
  if ((await project.apiKey()) !== undefined || elsewhere) return await openTarget(project, io)
  const running = await readServerFile(project.dataDirectory)
  const operator = await openOperatorChannel(project, io)
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
    if (!trigger || (await project.operatorKey()) !== undefined) return operatorTarget(operator, io)
    const { secret, close } = await openKey(operator, agent, trigger.triggerId)
    return {
      client: createApiClient(secret, url, io.fetch),
      answering: operatorClient(operator, io.fetch),
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

/**
 * The address that was given, else that of the project's server.
 * @throws Failure `usage` for a given address that is none, or has a user or password
 */
export async function apiAddress({ apiUrl, dataDirectory, config }: Project): Promise<string> {
  if (apiUrl !== undefined) return checkServerUrl(apiUrl)
  const running = await readServerFile(dataDirectory)
  return running?.url ?? `http://127.0.0.1:${config.dev?.port ?? 4310}`
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
