/** What is decided about each call of an agent, for the line of its binding: lenses, and the end of a hover. */
import { authorityMatrix } from '../authority/matrix.ts'
import { compileClosure } from '../compile/compile.ts'
import { subAgentsOf, toolsOf, wireNameOf } from '../documents/facts/agents/bindings.ts'
import type { TextSpan } from '../documents/text/source.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import type { AuthorityRow } from '../operations/versions.ts'
import { nothingPublished } from '../compile/state/published.ts'

export interface CallAuthority {
  readonly agent: string
  /** The `ref` of the binding. */
  readonly range: TextSpan
  /** From strict to loose, as they are decided. */
  readonly rows: readonly AuthorityRow[]
}

const known = new WeakMap<Workspace, Map<string, Promise<readonly CallAuthority[]>>>()

/**
 * The calls of the agents of a file, each decided as in a run of that agent. Empty for what does not compile by itself, such as an agent
 * with an error, or with a tool that only the registry has.
 * @param guardrails as in the project file
 */
export function authorityIn(
  workspace: Workspace,
  path: string,
  guardrails: readonly string[],
): Promise<readonly CallAuthority[]> {
  const files = known.get(workspace) ?? new Map<string, Promise<readonly CallAuthority[]>>()
  known.set(workspace, files)
  const calls = files.get(path) ?? readAuthority(workspace, path, guardrails)
  files.set(path, calls)
  return calls
}

async function readAuthority(
  workspace: Workspace,
  path: string,
  guardrails: readonly string[],
): Promise<readonly CallAuthority[]> {
  if (!workspace.documentsAt(path).some(({ kind }) => kind === 'Agent')) return []
  const { bundle } = await compileClosure({ workspace, root: path, guardrails, published: nothingPublished })
  const rowsOf = new Map(bundle?.agents.map((agent) => [agent.id, authorityMatrix(agent)]))
  return workspace.documentsAt(path).flatMap((document) => {
    const agent = document.identity?.id ?? ''
    const rows = rowsOf.get(agent) ?? []
    return [...toolsOf(document), ...subAgentsOf(document)].flatMap((binding): CallAuthority[] => {
      const wire = wireNameOf(workspace, binding)
      const own = rows.filter((row) => row.wire === wire)
      const range = document.spanOf(`${binding.pointer}/ref`)
      return own.length === 0 || !range ? [] : [{ agent, range, rows: own }]
    })
  })
}

/** One line, such as `deny when args.path starts with "/" · otherwise allow`. */
export const describeRows = (rows: readonly AuthorityRow[]): string => rows.map(describeRow).join(' · ')

function describeRow({ decision, by, when }: AuthorityRow): string {
  if (when === 'otherwise') return `otherwise ${decision}`
  if (when === 'always') return `${decision} always`
  return by === 'default' ? `${decision} (${when})` : `${decision} when ${when}`
}

/** A table in Markdown, with the policy behind each decision. */
export const tableOfRows = (rows: readonly AuthorityRow[]): string =>
  [
    '| decision | when | by |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| ${[row.decision, row.when, row.by].map(asCell).join(' | ')} |`),
  ].join('\n')

const asCell = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
