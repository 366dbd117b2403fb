/** What still runs on versions that may do more than the deployed one: a stricter deployment takes nothing from runs that have begun. */
import type { VersionId } from '../../../base/ids.ts'
import { MOST_LOOSER_CALLS, type LooserVersion } from '../../../operations/versions.ts'
import { findPause } from '../../../spec/steer/pause.ts'
import { intactVersion } from '../../../store/altered-versions.ts'
import { findLooserCalls } from '../../runtime/authority.ts'
import { findAgent } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { countOpenSessions } from './deploy.ts'
import { OPEN_STATUSES } from '../../../spec/run/run.ts'

/** Maximum open sessions whose versions are looked at. */
const MOST_SESSIONS = 1000

export const listLooserVersions: OperatorAction<'GET /looser-versions'> = async ({ services, query }) => {
  const { store, workspace } = services
  const agent = await findAgent(services, query.agent)
  const triggers = (await store.triggers(workspace.id, agent.id))
    .filter(({ active, allowOlderVersions }) => active && allowOlderVersions)
    .map(({ name }) => name)
  const deployed = agent.deployedVersionId === null ? undefined : await intactVersion(store, agent.deployedVersionId)
  if (!deployed) return { items: [], triggers }
  const filter = { workspaceId: workspace.id, agentId: agent.id, status: OPEN_STATUSES }
  const { items: sessions } = await store.sessions(filter, { skip: 0, take: MOST_SESSIONS })
  const pauses = await store.pauses(workspace.id)
  const items: LooserVersion[] = []
  for (const id of new Set(sessions.map(({ agentVersionId }) => agentVersionId as VersionId))) {
    if (id === deployed.id) continue
    const version = await intactVersion(store, id)
    const looser = version && (await findLooserCalls(services, deployed.snapshot, version.snapshot))
    if (!version || !looser) continue
    const name = `${version.snapshot.id}@${version.snapshot.version}`
    items.push({
      version: version.snapshot.version,
      runs: await countOpenSessions(services, agent, version),
      looser: looser.slice(0, MOST_LOOSER_CALLS),
      held: findPause(pauses, { agents: [version.snapshot.id], versions: [name] }) !== undefined,
    })
  }
  return { items: items.sort(byVersion), triggers }
}

const byVersion = (one: LooserVersion, other: LooserVersion): number => (one.version < other.version ? -1 : 1)
