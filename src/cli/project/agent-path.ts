/** Finds the bundle of a project that an agent id or a file belongs to. */
import { join, relative } from 'node:path'
import { fail } from '../../base/failure.ts'
import type { Document } from '../../documents/text/document.ts'
import { directoryOf, isUnder } from '../../documents/text/paths.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { Project } from './project.ts'
import { loadDocuments } from './documents.ts'

/**
 * The absolute path to compile: the nearest bundle above `near`, else the bundle of the agent, else its document, else the
 * project's directory.
 * @param near absolute path from which the search starts
 * @throws Failure `ambiguous_reference` for an id in several bundles, none of them above `near`
 */
export async function pathOfAgent(project: Project, agent: string | undefined, near: string): Promise<string> {
  const { directory } = project
  const workspace = await loadDocuments(project)
  const above = nearestBundle(workspace, relative(directory, near).replaceAll('\\', '/'))
  if (above) return join(directory, above.path)
  const id = agent?.split('@')[0]
  const found = workspace.documents.filter(({ kind, identity }) => kind === 'Agent' && identity?.id === id)
  const [chosen, ...others] = [...new Set(found.map((each) => bundleAround(workspace, each) ?? each))]
  if (chosen && others.length > 0)
    throw fail('ambiguous_reference', {
      text: agent!,
      candidates: [chosen, ...others].map(({ path }) => path).join(', '),
    })
  return chosen ? join(directory, chosen.path) : directory
}

function bundleAround(workspace: Workspace, document: Document): Document | undefined {
  const directory = workspace.bundleOf(document)
  return workspace.documents.find(({ kind, path }) => kind === 'Bundle' && directoryOf(path) === directory)
}

/** The bundle around any file; undefined outside of the project. */
function nearestBundle(workspace: Workspace, path: string): Document | undefined {
  if (path.startsWith('..')) return undefined
  const [nearest] = workspace.documents
    .filter((each) => each.kind === 'Bundle' && isUnder(directoryOf(each.path), path))
    .sort((a, b) => directoryOf(b.path).length - directoryOf(a.path).length)
  return nearest
}
