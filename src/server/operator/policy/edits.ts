/** The documents that an operator edits, over those of the publication they belong to. */
import { fail } from '../../../base/failure.ts'
import type { AgentVersion } from '../../../store/version-rows.ts'
import { findAgent, findVersion } from '../find/find.ts'
import type { DocumentCompiler, EditedDocuments } from '../../runtime/document-compiler.ts'
import type { ServerServices } from '../../runtime/services.ts'

interface GivenEdits {
  readonly base?: { readonly agent: string; readonly version?: string }
  readonly edits?: readonly { readonly path: string; readonly text: string }[]
}

/** @throws Failure `not_found` where the server was opened without a compiler */
export function compilerOf({ documents }: ServerServices): DocumentCompiler {
  if (!documents) throw fail('not_found', { what: 'view of documents: this server was opened without the compiler' })
  return documents
}

/** Edits of a publication whose texts were not kept stand alone. */
export async function readEdits(services: ServerServices, { base, edits = [] }: GivenEdits): Promise<EditedDocuments> {
  const files = new Map<string, string>()
  if (base) {
    const { snapshot } = await versionNamed(services, base)
    const kept = await services.store.sources(services.workspace.id, {
      kind: 'Agent',
      id: snapshot.id,
      version: snapshot.version,
    })
    for (const { path, text } of kept?.files ?? []) files.set(path, text)
  }
  for (const { path, text } of edits) files.set(path, text)
  return {
    files: [...files].map(([path, text]) => ({ path, text })),
    edited: [...new Set(edits.map(({ path }) => path))],
  }
}

/** @throws Failure `not_found`, `no_deployed_version` */
export async function versionNamed(
  services: ServerServices,
  { agent: reference, version: label }: { readonly agent: string; readonly version?: string | undefined },
): Promise<AgentVersion> {
  const agent = await findAgent(services, reference)
  if (label !== undefined) return await findVersion(services, agent, label)
  const deployed = agent.deployedVersionId === null ? undefined : await services.store.version(agent.deployedVersionId)
  if (!deployed) throw fail('no_deployed_version', { agent: agent.name })
  return deployed
}
