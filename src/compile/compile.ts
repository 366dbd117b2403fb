/**
 * From documents to what the runtime evaluates. The stages below are the whole way; each fills in one part of the work and
 * may rely on those above. The same documents give the same bytes on every machine.
 */
import { sortDiagnostics, type Diagnostic } from '../documents/text/diagnostic.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import type { CompiledBundle } from '../spec/snapshot.ts'
import type { AskMcp } from '../tools/mcp-listing.ts'
import { bindTools } from './stages/bind.ts'
import { bindBoundaries } from './stages/boundaries.ts'
import { bundleOf, freezeAgents } from './stages/freeze.ts'
import { attachPolicies } from './stages/govern.ts'
import { walkAgentGraph } from './stages/graph.ts'
import { inlineSchemas } from './stages/inline.ts'
import { locateSubject } from './stages/locate.ts'
import { lockOf } from './stages/lock.ts'
import { type LockFile } from './state/lock-file.ts'
import { faultOfBundle } from './package/pack.ts'
import { pinMcpTools } from './stages/pin.ts'
import type { PublishedLookup } from './state/published.ts'
import { resolveReferences } from './stages/resolve.ts'
import { hasErrors, reportFinding, type CompileState } from './state/state.ts'

export interface CompileInput {
  readonly workspace: Workspace
  /** Path in the workspace: of a Bundle, Agent, Tool or Policy document, or of a directory with one bundle or agent. Empty = the workspace. */
  readonly root: string
  readonly published: PublishedLookup
  /** Paths in the workspace of Policy documents that concern every agent (`guardrails` of the project file). */
  readonly guardrails?: readonly string[]
  /** Id of a registry member to choose anew in spite of the lock, whose choices are kept while they satisfy. */
  readonly update?: string
  /** Asks MCP servers what is to be pinned; absent = it stays as the lock has it. */
  readonly askMcp?: AskMcp
  /** A boundary without a policy is an error. */
  readonly strict?: boolean
  /** Appended to the versions of this workspace's documents as a prerelease: `dev.1` makes 1.2.0 into 1.2.0-dev.1. */
  readonly prerelease?: string
}

export interface CompileResult {
  /** Absent when there is an error among the findings. */
  readonly bundle?: CompiledBundle
  /** What the lock should say. */
  readonly lock?: LockFile
  /** What it says; absent where there is none. */
  readonly locked?: LockFile
  /** Path in the workspace of the lock, whether or not it is there. */
  readonly lockPath?: string
  /** Path in the workspace of the Bundle document, or of the one that was compiled alone. */
  readonly document?: string
  readonly findings: readonly Diagnostic[]
}

interface CompileStage {
  readonly name: string
  run(work: CompileState): void | Promise<void>
}

const stages: readonly CompileStage[] = [
  { name: 'locate', run: locateSubject }, // the bundle, its root and its lock
  { name: 'graph', run: walkAgentGraph }, // the agents of the closure; cycles, versions, depth, secrets
  { name: 'resolve', run: resolveReferences }, // tools and policies, from the bundle or the registry
  { name: 'boundaries', run: bindBoundaries }, // the policies that stand for each authority boundary
  { name: 'inline', run: inlineSchemas }, // instructions, schemas and scripts by value
  { name: 'bind', run: bindTools }, // wire names, and what stands behind each
  { name: 'pin', run: pinMcpTools }, // what MCP servers say of their tools
  { name: 'govern', run: attachPolicies }, // one policy set an agent, from attachments and boundaries
  { name: 'freeze', run: freezeAgents }, // snapshots with digests, children first
]

/**
 * Compiles a document and its closure. What is wrong in a document is a finding; a stage with an error is the last.
 * @throws Failure `no_documents`, `ambiguous_reference` where `root` means nothing or more than one thing
 */
export async function compileClosure(input: CompileInput): Promise<CompileResult> {
  const work = openCompileState(input)
  for (const stage of stages) {
    await stage.run(work)
    if (hasErrors(work)) return { findings: findingsOf(work) }
  }
  const bundle = bundleOf(work)
  const lock = lockOf(work, bundle)
  const document = work.bundle ?? work.subject
  const fault = document && faultOfBundle(work.workspace, document.path, lock)
  if (fault) {
    reportFinding(
      work,
      fault.rule,
      { document, pointer: '' },
      fault.what,
      fault.fix === undefined ? {} : { fix: fault.fix },
    )
    return { findings: findingsOf(work) }
  }
  return {
    bundle,
    lock,
    ...(work.locked && { locked: work.locked }),
    ...(work.lockPath !== undefined && { lockPath: work.lockPath }),
    ...(document && { document: document.path }),
    findings: findingsOf(work),
  }
}

export const openCompileState = (input: CompileInput): CompileState => ({
  workspace: input.workspace,
  root: input.root,
  published: input.published,
  update: input.update,
  askMcp: input.askMcp,
  pins: new Map(),
  pinned: new Map(),
  mcpPins: new Map(),
  guardrails: input.guardrails ?? [],
  strict: input.strict ?? false,
  version: (written) => withPrerelease(written, input.prerelease),
  findings: [],
  members: [],
  externals: new Map(),
  contracts: new Map(),
  rulebooks: new Map(),
  guards: [],
  boundaries: new Map(),
  files: new Map(),
})

function withPrerelease(version: string, prerelease: string | undefined): string {
  if (prerelease === undefined) return version
  const [release, build] = version.split('+', 2)
  return `${release}${release!.includes('-') ? '.' : '-'}${prerelease}${build === undefined ? '' : `+${build}`}`
}

/** Each once: a policy that is attached in many places is wrong in one. */
export function findingsOf({ findings }: CompileState): readonly Diagnostic[] {
  const seen = new Map(
    findings.map((each) => [
      JSON.stringify([each.rule, each.path, each.pointer, each.range.start.offset, each.message]),
      each,
    ]),
  )
  return sortDiagnostics([...seen.values()])
}
