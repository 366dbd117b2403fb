/** Late-bound agents of a project: they are in no closure, so where a project is tried they are published beside it. */
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import type { BundleBuild } from './build.ts'

export interface LateBound {
  /** A closure of its own for each late-bound agent of the workspace, in the order in which edges name them. */
  readonly bundles: readonly CompiledBundle[]
  /** What is wrong with them alone; with an error among it their bundles are not complete. */
  readonly findings: readonly Diagnostic[]
}

/** The agents that late-bound edges of a build name, and those that these name in turn. Others than the workspace's are not ours. */
export async function lateBoundOf(
  { workspace, findings: known, compiled, as }: BundleBuild,
  prerelease?: string,
): Promise<LateBound> {
  const bundles: CompiledBundle[] = []
  const findings: Diagnostic[] = []
  const seen = new Set(compiled?.bundle?.root === undefined ? [] : [compiled.bundle.root])
  const said = new Set(known.map(keyOf))
  const open = compiled?.bundle ? [compiled.bundle] : []
  for (const { agents } of open) {
    const names = agents.flatMap((agent) => agent.agents.filter(({ lateBound }) => lateBound).map(({ id }) => id))
    for (const id of names.filter((each) => !seen.has(each))) {
      seen.add(id)
      const document = workspace.documents.find(({ kind, identity }) => kind === 'Agent' && identity?.id === id)
      if (!document || !as) continue
      const built = await as(prerelease, document.path)
      for (const finding of built.findings.filter((each) => !said.has(keyOf(each)))) {
        said.add(keyOf(finding))
        findings.push(finding)
      }
      const bundle = built.compiled?.bundle
      if (bundle?.root !== id) continue
      bundles.push(bundle)
      open.push(bundle)
    }
  }
  return { bundles, findings }
}

const keyOf = ({ rule, path, range, message }: Diagnostic): string => `${rule} ${path} ${range.start.offset} ${message}`
