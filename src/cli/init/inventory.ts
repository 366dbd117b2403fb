/** The contents of a project, as `svc init` prints them. */
import { readdir } from 'node:fs/promises'
import type { Document } from '../../documents/text/document.ts'
import { readAgentRef } from '../../documents/text/reference.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { loadDocuments } from '../project/documents.ts'
import type { Project } from '../project/project.ts'

/** `1 agent, 1 sub-agent, 2 tools, 2 policies, 1 bundle, 3 scenarios, svc.config.yaml`, without the kinds that are absent. */
export async function describeInventory(project: Project): Promise<string> {
  const workspace = await loadDocuments(project)
  const files = await readdir(project.directory, { recursive: true })
  const { documents } = workspace
  const countOf = (kind: string): number => documents.filter((each) => each.kind === kind).length
  const called = new Set(documents.flatMap((document) => calledBy(workspace, document)))
  return [
    countOrNothing(countOf('Agent') - called.size, 'agent', 'agents'),
    countOrNothing(called.size, 'sub-agent', 'sub-agents'),
    countOrNothing(countOf('Tool'), 'tool', 'tools'),
    countOrNothing(countOf('Policy'), 'policy', 'policies'),
    countOrNothing(countOf('Bundle'), 'bundle', 'bundles'),
    countOrNothing(files.filter((path) => /\.scenario\.ya?ml$/.test(path)).length, 'scenario', 'scenarios'),
    ...files.filter((path) => path === 'svc.config.yaml'),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** The agents of the workspace to which this document delegates. */
const calledBy = (workspace: Workspace, document: Document): readonly Document[] =>
  document.at('spec.agents.*.ref').flatMap(({ value }) => {
    const ref = readAgentRef(typeof value === 'string' ? value : '')
    if (ref.form === 'path') {
      const resolved = workspace.resolve(document, ref.path)
      return 'path' in resolved ? workspace.documentsAt(resolved.path).filter(({ kind }) => kind === 'Agent') : []
    }
    return 'id' in ref
      ? workspace.documents.filter(({ kind, identity }) => kind === 'Agent' && identity?.id === ref.id)
      : []
  })

const countOrNothing = (number: number, one: string, many: string): string =>
  number === 0 ? '' : `${number} ${number === 1 ? one : many}`
