/** Which secrets the deployed agents and the server itself name, and whether this server has them. Never a value. */
import type { SecretView } from '../../operations/server.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { intactVersion } from '../../store/altered-versions.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'

export const listSecrets: OperatorAction<'GET /secrets'> = async ({ services }) => {
  const { store, workspace } = services
  const items: SecretView[] = []
  for (const { deployedVersionId } of await store.agents(workspace.id)) {
    const version = deployedVersionId === null ? undefined : await intactVersion(store, deployedVersionId)
    if (version) items.push(...secretsOf(version.snapshot, services))
  }
  items.push(...secretsOfServer(services))
  return { items, total: items.length }
}

const secretsOf = (snapshot: AgentSnapshot, { secretState }: ServerServices): readonly SecretView[] =>
  Object.entries(snapshot.secrets).map(([name, { fromEnv }]) => ({
    agent: snapshot.id,
    name,
    env: fromEnv,
    state: secretState(fromEnv),
    usedBy: usersOf(snapshot, name),
  }))

/** Variables of svc itself are optional: those that are missing would say nothing. */
const secretsOfServer = ({ secretVariables = [], secretState }: ServerServices): readonly SecretView[] =>
  secretVariables
    .map(({ env, usedBy }): SecretView => ({ agent: '', name: '', env, state: secretState(env), usedBy }))
    .filter(({ env, state }) => state !== 'missing' || !env.startsWith('SVC_'))

function usersOf({ model, fallback = [], mcpServers }: AgentSnapshot, name: string): readonly string[] {
  const models = [model, ...fallback].filter(({ secret }) => secret === name)
  const servers = mcpServers.filter(({ auth }) => auth?.secret === name)
  return [
    ...new Set(models.map(({ provider }) => `model ${provider}`)),
    ...servers.map(({ name: server }) => `mcp ${server}`),
  ]
}
