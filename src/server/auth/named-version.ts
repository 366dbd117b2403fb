/**
 * Which version a key may name for a run. Whoever deploys a stricter version takes the rights of the one before from every key: a
 * version that may do more than the deployed one is for operators. Source: docs/design/http.md#versions-that-a-key-may-name
 */
import { fail } from '../../base/failure.ts'
import type { AgentId, VersionId } from '../../base/ids.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { findLooserCalls } from '../runtime/authority.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { ApiPrincipal } from './auth.ts'

/**
 * For a key whose trigger says nothing else the deployed version, or one of which every call is proven to be decided as strictly as by the deployed one. Whether it
 * was ever deployed, the engine checks.
 * @throws Failure `version_looser`
 */
export async function checkNamedVersion(
  services: ServerServices,
  principal: ApiPrincipal,
  agentId: AgentId,
  versionId: VersionId,
): Promise<void> {
  if (principal.type === 'operator' || principal.allowOlderVersions) return
  const { store } = services
  const deployedId = (await store.agent(agentId))?.deployedVersionId
  if (!deployedId || deployedId === versionId) return
  const [deployed, named] = [await store.version(deployedId), await store.version(versionId)]
  if (!deployed || named?.agentId !== agentId) return
  if (await isProvenTight(services, deployed.snapshot, named.snapshot)) return
  const { id, version } = named.snapshot
  throw fail('version_looser', { id, version, deployed: deployed.snapshot.version })
}

/** Verdicts about two versions, which never change. A proof takes long enough that a key must not ask for it again and again. */
const verdicts = new WeakMap<ServerServices['store'], Map<string, Promise<boolean>>>()
const MAX_VERDICTS = 1000

async function isProvenTight(services: ServerServices, from: AgentSnapshot, to: AgentSnapshot): Promise<boolean> {
  const known = verdicts.get(services.store) ?? new Map<string, Promise<boolean>>()
  verdicts.set(services.store, known)
  const versions = `${from.digest} ${to.digest}`
  const before = known.get(versions)
  if (before) return before
  if (known.size >= MAX_VERDICTS) known.clear()
  const verdict = findLooserCalls(services, from, to).then((looser) => looser === undefined)
  known.set(versions, verdict)
  verdict.catch(() => known.delete(versions))
  return verdict
}
