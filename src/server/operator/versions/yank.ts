/** Yanks versions, so that they are no longer chosen. Source: docs/design/bundles-and-authority.md#deploy-and-yank */
import { agentIdOf } from '../../../base/ids.ts'
import { fail } from '../../../base/failure.ts'
import { throwFindings } from '../../http/refuse.ts'
import type { SetupName } from '../../../spec/people/setup-name.ts'
import type { RecordedWrites } from '../../../store/act-store.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { findAgent, findVersion } from '../find/find.ts'

/** Deletes nothing, and changes neither running nor deployed versions. */
export const yankVersion: OperatorAction<'POST /yank'> = async ({ services, body, act }) => {
  const { kind, id, version, yanked, reason } = body
  const misplaced = reason !== undefined && !yanked
  throwFindings(
    misplaced ? [{ path: '/reason', message: 'is for yanking, not for taking it back' }] : [],
    'The body is not valid',
  )
  const change = { id, version, yanked, ...(reason !== undefined && { reason }) }
  const recording = (setup: SetupName): RecordedWrites =>
    services.store.recording(
      act(yanked ? 'version.yanked' : 'version.unyanked', {
        subject: `${kind} ${id}@${version}`,
        reason,
        setup: [setup],
      }),
    )
  const digest =
    kind === 'Agent'
      ? await yankAgent(services, recording, change)
      : await yankDocument(services, recording, { ...change, kind })
  return { kind, id, version, digest, yanked }
}

interface YankChange {
  readonly id: string
  readonly version: string
  readonly yanked: boolean
  readonly reason?: string
}

type RecordSetup = (setup: SetupName) => RecordedWrites

async function yankAgent(services: ServerServices, recording: RecordSetup, change: YankChange): Promise<string> {
  const agent = await findAgent(services, agentIdOf(services.workspace.name, change.id))
  const version = await findVersion(services, agent, change.version)
  await recording(`version ${version.id}`).setYanked(version.id, change.yanked, change.reason)
  return version.snapshot.digest
}

async function yankDocument(
  { store, workspace }: ServerServices,
  recording: RecordSetup,
  { kind, id, version, yanked, reason }: YankChange & { readonly kind: 'Tool' | 'Policy' },
): Promise<string> {
  const document = (await store.documents(workspace.id, kind, id)).find((each) => each.version === version)
  if (!document) throw fail('not_found', { what: `published ${kind} ${id}@${version}` })
  const writes = recording(`document ${kind} ${id} ${version}`)
  await writes.setDocumentYanked(workspace.id, { kind, id, version }, yanked, reason)
  return document.digest
}
