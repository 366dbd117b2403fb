/** Yanks versions, so that they are no longer chosen. Source: bundles, section 4. */
import { agentIdOf } from '../../base/ids.ts'
import { fail } from '../../base/failure.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './act.ts'
import { findAgent, findVersion } from './find.ts'

/** Deletes nothing and does not change what runs or is deployed. */
export const yankVersion: OperatorAction<'POST /yank'> = async ({ services, body }) => {
  const { kind, id, version, yanked } = body
  const digest =
    kind === 'Agent'
      ? await yankAgent(services, id, version, yanked)
      : await yankDocument(services, kind, id, version, yanked)
  return { kind, id, version, digest, yanked }
}

async function yankAgent(services: ServerServices, id: string, label: string, yanked: boolean): Promise<string> {
  const version = await findVersion(services, await findAgent(services, agentIdOf(services.workspace.name, id)), label)
  await services.store.setYanked(version.id, yanked)
  return version.snapshot.digest
}

async function yankDocument(
  { store, workspace }: ServerServices,
  kind: 'Tool' | 'Policy',
  id: string,
  version: string,
  yanked: boolean,
): Promise<string> {
  const document = (await store.documents(workspace.id, kind, id)).find((each) => each.version === version)
  if (!document) throw fail('not_found', { what: `published ${kind} ${id}@${version}` })
  await store.setDocumentYanked(workspace.id, { kind, id, version }, yanked)
  return document.digest
}
