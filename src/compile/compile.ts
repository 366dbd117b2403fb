/**
 * Compiles documents into what the runtime evaluates. Each stage below fills in one part of the state and may rely on the
 * stages above. The same documents give the same bytes on every machine.
 */
import { sortDiagnostics, type Diagnostic } from '../documents/text/diagnostic.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import type { CompiledBundle } from '../spec/snapshot.ts'
import type { McpToolLister } from '../tools/mcp/mcp-listing.ts'
import { bindTools } from './stages/bind.ts'
import { bindBoundaries } from './stages/boundaries.ts'
import { toCompiledBundle, freezeAgents } from './stages/freeze.ts'
import { attachPolicies } from './stages/govern.ts'
import { walkAgentGraph } from './stages/graph.ts'
import { inlineSchemas } from './stages/inline.ts'
import { locateSubject } from './stages/locate.ts'
import { toLockFile } from './stages/lock.ts'
import { type LockFile } from './state/lock-file.ts'
import { faultOfBundle } from './package/pack.ts'
import { pinMcpTools } from './stages/pin.ts'
import type { PublishedLookup } from './state/published.ts'
import { resolveReferences } from './stages/resolve.ts'
import { hasErrors, reportFinding, type CompileState } from './state/state.ts'
import { textBefore } from '../base/text/text-parts.ts'

export interface CompileInput {
  readonly workspace: Workspace
  /**
   * Path in the workspace of a Bundle, Agent, Tool or Policy document, or of a directory with one bundle or agent. Empty = the
   * workspace.
   */
  readonly root: string
  readonly published: PublishedLookup
  /** Paths in the workspace of Policy documents that apply to every agent (`guardrails` of the project file). */
  readonly guardrails?: readonly string[]
  /** Id of a registry member to choose again. Other choices of the lock are kept while they satisfy their ranges. */
  readonly update?: string
  /** Asks MCP servers for their tools, to pin them; absent = the pins of the lock stay. */
  readonly askMcp?: McpToolLister
  /** A boundary without a policy is an error. */
  readonly strict?: boolean
  /** Appended to the versions of this workspace's documents as a prerelease: `dev.1` makes 1.2.0 into 1.2.0-dev.1. */
  readonly prerelease?: string
}

export interface CompileResult {
  /** Absent if there is an error among the findings. */
  readonly bundle?: CompiledBundle
  /** The lock as it should be. */
  readonly lock?: LockFile
  /** The lock as it is; absent if there is none. */
  readonly locked?: LockFile
  /** Path of the lock in the workspace, whether or not the file exists. */
  readonly lockPath?: string
  /** Path in the workspace of the Bundle document, or of the document that was compiled alone. */
  readonly document?: string
  readonly findings: readonly Diagnostic[]
}

interface CompileStage {
  readonly name: string
  run(state: CompileState): void | Promise<void>
}

const stages: readonly CompileStage[] = [
  { name: 'locate', run: locateSubject }, // the bundle, its root and its lock
  { name: 'graph', run: walkAgentGraph }, // the agents of the closure; cycles, versions, depth, secrets
  { name: 'resolve', run: resolveReferences }, // tools and policies, from the bundle or the registry
  { name: 'boundaries', run: bindBoundaries }, // the policies that implement each authority boundary
  { name: 'inline', run: inlineSchemas }, // instructions, schemas and scripts by value
  { name: 'bind', run: bindTools }, // wire names, and what each is bound to
  { name: 'pin', run: pinMcpTools }, // tools of MCP servers, by digest
  { name: 'govern', run: attachPolicies }, // one policy set per agent, from attachments and boundaries
  { name: 'freeze', run: freezeAgents }, // snapshots with digests, children first
]

/**
 * Compiles a document and its closure. Faults of documents are findings; after a stage with an error no further stage runs.
 * @throws Failure `no_documents`, `ambiguous_reference` if `root` means nothing or more than one thing
 */
export async function compileClosure(input: CompileInput): Promise<CompileResult> {
  const state = openCompileState(input)
  for (const stage of stages) {
    await stage.run(state)
    if (hasErrors(state)) return { findings: findingsOf(state) }
  }
  const bundle = toCompiledBundle(state)
  const lock = toLockFile(state, bundle)
  const document = state.bundle ?? state.subject
  const fault = document && faultOfBundle(state.workspace, document.path, lock)
  if (fault) {
    reportFinding(
      state,
      fault.rule,
      { document, pointer: '' },
      fault.what,
      fault.fix === undefined ? {} : { fix: fault.fix },
    )
    return { findings: findingsOf(state) }
  }
  return {
    bundle,
    lock,
    ...(state.locked && { locked: state.locked }),
    ...(state.lockPath !== undefined && { lockPath: state.lockPath }),
    ...(document && { document: document.path }),
    findings: findingsOf(state),
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
  resolvedPolicies: new Map(),
  guardrailPolicies: [],
  boundaries: new Map(),
  files: new Map(),
})

function withPrerelease(version: string, prerelease: string | undefined): string {
  if (prerelease === undefined) return version
  const release = textBefore(version, '+')
  const build = version.slice(release.length)
  return `${release}${release.includes('-') ? '.' : '-'}${prerelease}${build}`
}

/** Each finding once: a policy may be attached in many places but has its fault in one. */
export function findingsOf({ findings }: CompileState): readonly Diagnostic[] {
  const seen = new Map(
    findings.map((each) => [
      JSON.stringify([each.rule, each.path, each.pointer, each.range.start.offset, each.message]),
      each,
    ]),
  )
  return sortDiagnostics([...seen.values()])
}
