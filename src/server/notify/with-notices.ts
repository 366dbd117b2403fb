/** A store whose writes tell the channels what they change, each in the transaction of the write itself. */
import type { NotifyConfig } from '../../spec/project/config.ts'
import { storedVersion } from '../../store/altered-versions.ts'
import type { Store } from '../../store/store.ts'
import type { SessionUpdate } from '../../store/session-update.ts'
import { deriveDeploymentNotices, deriveNoticesFor } from './derive-notices.ts'

/** @param added called after a write that told something, so that nobody waits for the next look at the outbox */
export function withNotices(store: Store, notify: NotifyConfig, added: () => void): Store {
  const derive = deriveNoticesFor(notify)
  const tell = async <T>(update: SessionUpdate, write: (told: SessionUpdate) => Promise<T>): Promise<T> => {
    const notices = derive(update)
    if (notices.length === 0) return await write(update)
    const answer = await write({ ...update, notices })
    added()
    return answer
  }
  const tellingDeploy =
    (deploy: Store['deploy']): Store['deploy'] =>
    async (agentId, versionId, at, by, message, more) => {
      const [agent, version] = [await store.agent(agentId), await store.version(versionId)]
      const from = agent?.deployedVersionId ?? null
      if (!agent || !version || from === versionId) return await deploy(agentId, versionId, at, by, message, more)
      const earlier = from === null ? undefined : await storedVersion(store, agentId, from)
      const notices = deriveDeploymentNotices(notify, {
        key: `deployment.changed ${agentId} ${versionId} ${at}`,
        at,
        agent: agent.name,
        workspaceId: agent.workspaceId,
        data: {
          agent: agent.name,
          versionLabel: version.snapshot.version,
          from: earlier?.snapshot.version ?? null,
        },
      })
      const answer = await deploy(agentId, versionId, at, by, message, { ...more, notices })
      if (notices.length > 0) added()
      return answer
    }
  return {
    ...store,
    start: (update, ...more) => tell(update, (told) => store.start(told, ...more)),
    save: (update, ...more) => tell(update, (told) => store.save(told, ...more)),
    deploy: tellingDeploy((...deployment) => store.deploy(...deployment)),
    recording(act) {
      const writes = store.recording(act)
      return { ...writes, deploy: tellingDeploy((...deployment) => writes.deploy(...deployment)) }
    },
  }
}
