/** Requests of `svc api`, with the given key, else with a short-lived one for the agent or run in the path. */
import { fail } from '../../../base/failure.ts'
import { isUuid } from '../../../base/ids.ts'
import type { CommandContext } from '../../shell/command.ts'
import { sendToOperator, type OperatorClient } from '../../../client/operator.ts'
import { openOperatorChannel } from './operator.ts'
import type { Project } from '../project.ts'
import { apiAddress, openKey } from './target.ts'

export interface RawApi {
  send(method: string, path: string, body?: string): Promise<Response>
  close(): Promise<void>
}

/** Paths that need no key. */
const KEYLESS_PATHS = /^\/v1\/(?:healthz|openapi\.json)$/

/** @param path of the first request; determines the agent and trigger of the short-lived key */
export async function openRawApi(call: CommandContext, project: Project, path: string): Promise<RawApi> {
  const key = await project.apiKey()
  const direct = async (secret: string | undefined): Promise<RawApi> => {
    const base = await apiAddress(project)
    return {
      send: (method, to, body) => request(call, `${base}${to}`, method, secret, body),
      close: async () => undefined,
    }
  }
  if (key !== undefined || KEYLESS_PATHS.test(path) || project.apiUrl !== undefined) return await direct(key)
  const operator = await openOperatorChannel(project, call.io)
  try {
    const isHere = operator.isServed && project.target?.host === undefined
    const scope = isHere ? await scopeOf(path, operator) : undefined
    if (!scope) {
      // No server listens, or the resource belongs to no API trigger.
      return { send: (method, to, body) => sendToOperator(operator, method, to, body), close: () => operator.close() }
    }
    const { secret, close } = await openKey(operator, scope.agent, scope.trigger)
    return { ...(await direct(secret)), close }
  } catch (error) {
    await operator.close()
    throw error
  }
}

async function scopeOf(
  path: string,
  operator: OperatorClient,
): Promise<{ agent: string; trigger: string } | undefined> {
  const [, , resource, id = ''] = path.split(/[/?]/)
  const run = resource === 'runs' && isUuid(id) ? await runView(operator, id) : undefined
  if (resource === 'runs' && !run) return undefined
  const agent = run?.agent ?? (resource === 'agents' ? id : undefined)
  const { items } = await operator
    .call('GET /triggers', { query: agent === undefined ? {} : { agent } })
    .catch(() => ({ items: [] }))
  const usable = items.filter(({ type, active }) => type === 'api' && active)
  const found = run ? usable.find(({ name }) => name === run.trigger) : usable[0]
  return found && { agent: found.agentId, trigger: found.triggerId }
}

const runView = async (operator: OperatorClient, id: string) =>
  (await operator.call('GET /runs', { query: { ending: id } })).items[0]

async function request(
  { io, signal }: CommandContext,
  url: string,
  method: string,
  secret?: string,
  body?: string,
): Promise<Response> {
  const headers = {
    ...(secret !== undefined && { 'x-api-key': secret }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  try {
    return await io.fetch(url, { method, signal, headers, ...(body !== undefined && { body }) })
  } catch (cause) {
    if (signal.aborted) throw cause
    throw fail('no_server', { url: new URL(url).origin }, { cause })
  }
}
