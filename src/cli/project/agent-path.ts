/** Finds the bundle of a project that an agent id or a file belongs to. */
import { join, relative } from 'node:path'
import { fail } from '../../base/failure.ts'
import { filesNamedBy, reachableDocuments } from '../../documents/lint/dependents.ts'
import type { Document } from '../../documents/text/document.ts'
import { directoryOf, isUnder } from '../../documents/text/paths.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { Project } from './project.ts'
import { loadDocuments } from './documents.ts'

/**
 * The absolute path to compile: the nearest bundle above `near`, else the bundle of the agent, else its document, else the
 * project's directory. Of several bundles in one directory it is the one that reaches the agent.
 * @param near absolute path from which the search starts
 * @throws Failure `ambiguous_reference` for an id in several bundles, where neither `near` nor their roots choose one
 */
export async function pathOfAgent(project: Project, agent: string | undefined, near: string): Promise<string> {
  const { directory } = project
  const workspace = await loadDocuments(project)
  const above = nearestBundles(workspace, relative(directory, near).replaceAll('\\', '/'))
  const id = agent?.split('@')[0]
  if (above[0] && (above.length === 1 || id === undefined)) return join(directory, above[0].path)
  const found = workspace.documents.filter(({ kind, identity }) => kind === 'Agent' && identity?.id === id)
  const holding = above.filter((bundle) => found.some((each) => isIn(workspace, bundle, each)))
  const candidates = holding.length > 0 ? holding : found.flatMap((each) => bundlesAround(workspace, each))
  const [chosen, ...others] = withRoot(workspace, [...new Set(candidates)], found)
  if (chosen && others.length > 0)
    throw fail('ambiguous_reference', {
      text: agent ?? '',
      candidates: [chosen, ...others].map(({ path }) => path).join(', '),
    })
  return join(directory, (chosen ?? above[0])?.path ?? '')
}

const isIn = (workspace: Workspace, bundle: Document, agent: Document): boolean =>
  reachableDocuments(workspace, [bundle]).has(agent)

/** The bundles of its directory that reach an agent, the only one there in any case; without one the agent itself. */
function bundlesAround(workspace: Workspace, agent: Document): readonly Document[] {
  const bundles = bundlesIn(workspace, workspace.bundleOf(agent))
  const holding = bundles.length === 1 ? bundles : bundles.filter((each) => isIn(workspace, each, agent))
  return holding.length > 0 ? holding : [agent]
}

/** Of several bundles in one directory those that an agent is the root of, if there are any. */
function withRoot(
  workspace: Workspace,
  bundles: readonly Document[],
  agents: readonly Document[],
): readonly Document[] {
  if (new Set(bundles.map(({ path }) => directoryOf(path))).size > 1) return bundles
  const roots = new Set(agents.map(({ path }) => path))
  const chosen = bundles.filter((each) => filesNamedBy(workspace, each).some((path) => roots.has(path)))
  return chosen.length > 0 ? chosen : bundles
}

const bundlesIn = (workspace: Workspace, directory: string | undefined): readonly Document[] =>
  workspace.documents.filter(({ kind, path }) => kind === 'Bundle' && directoryOf(path) === directory)

/** The bundles of the nearest directory around any file that has one; none outside of the project. */
function nearestBundles(workspace: Workspace, path: string): readonly Document[] {
  if (path.startsWith('..')) return []
  const [nearest] = workspace.documents
    .filter((each) => each.kind === 'Bundle' && isUnder(directoryOf(each.path), path))
    .map((each) => directoryOf(each.path))
    .sort((a, b) => b.length - a.length)
  return nearest === undefined ? [] : bundlesIn(workspace, nearest)
}
