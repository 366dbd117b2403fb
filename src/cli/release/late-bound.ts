/** Late-bound agents of a project. They belong to no closure, so `dev`, `run` and `test` deploy them beside it. */
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import type { BundleBuild } from './build.ts'

export interface LateBound {
  /** A closure of its own for each late-bound agent of the workspace, in the order in which edges name them. */
  readonly bundles: readonly CompiledBundle[]
  /** Findings of these agents; with an error among them the bundles are incomplete. */
  readonly findings: readonly Diagnostic[]
}

/** Compiles the late-bound agents of the workspace that a build delegates to, directly or through each other. */
export async function lateBoundOf(
  { workspace, findings: known, compiled, compileAs: as }: BundleBuild,
  prerelease?: string,
): Promise<LateBound> {
  const bundles: CompiledBundle[] = []
  const findings: Diagnostic[] = []
  const seen = new Set(compiled?.bundle?.root === undefined ? [] : [compiled.bundle.root])
  const knownKeys = new Set(known.map(keyOf))
  const pending = compiled?.bundle ? [compiled.bundle] : []
  for (const { agents } of pending) {
    const names = agents.flatMap((agent) => agent.agents.filter(({ lateBound }) => lateBound).map(({ id }) => id))
    for (const id of names.filter((each) => !seen.has(each))) {
      seen.add(id)
      const document = workspace.documents.find(({ kind, identity }) => kind === 'Agent' && identity?.id === id)
      if (!document || !as) continue
      const built = await as(prerelease, document.path)
      for (const finding of built.findings.filter((each) => !knownKeys.has(keyOf(each)))) {
        knownKeys.add(keyOf(finding))
        findings.push(finding)
      }
      const bundle = built.compiled?.bundle
      if (bundle?.root !== id) continue
      bundles.push(bundle)
      pending.push(bundle)
    }
  }
  return { bundles, findings }
}

const keyOf = ({ rule, path, range, message }: Diagnostic): string => `${rule} ${path} ${range.start.offset} ${message}`
