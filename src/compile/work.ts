/** What the stages of one compilation share: each fills in one part and may rely on those before it. */
import type { Digest } from '../base/digest.ts'
import type { JsonObject } from '../base/json.ts'
import { diagnostic, type Diagnostic, type Place, type Saying, type Severity } from '../documents/diagnostic.ts'
import { asKind, type Document } from '../documents/document.ts'
import type { LogicalRef } from '../documents/reference.ts'
import type { Workspace } from '../documents/workspace.ts'
import type {
  AgentBinding,
  AgentDocument,
  AnyDocument,
  Kind,
  PolicyDocument,
  ToolBinding,
  ToolDocument,
} from '../spec/document.ts'
import type { Obligations, Origin, PolicySet } from '../spec/policy-set.ts'
import type { BoundAgent, BoundTool, JsonSchema, PublishedDocument, ScriptTurn, Snapshot } from '../spec/snapshot.ts'
import type { AskMcp } from '../tools/mcp-listing.ts'
import type { LockFile } from './lock-file.ts'
import type { PublishedLookup } from './published.ts'

export interface Work {
  readonly workspace: Workspace
  /** Path of what is compiled, as it was given. */
  readonly root: string
  readonly published: PublishedLookup
  /** Id of a registry member that is chosen anew. */
  readonly update: string | undefined
  readonly askMcp: AskMcp | undefined
  /** Paths of Policy documents that concern every agent. */
  readonly guardrails: readonly string[]
  readonly strict: boolean
  /** Version of a document of this workspace as it will be published. */
  version(written: string): string
  readonly findings: Diagnostic[]

  // locate
  /** The document that is compiled: the root agent, or a Tool or Policy alone. */
  subject?: Document
  bundle?: Document
  /** Path in the workspace of the lock, whether or not it is there. */
  lockPath?: string
  /** The lock as it is read. */
  locked?: LockFile
  /** Versions that it chose from the registry, by `Kind id`. */
  pins: ReadonlyMap<string, readonly string[]>
  /** Digests of what it chose from the registry, by `Kind id@version`. */
  pinned: ReadonlyMap<string, Digest>
  /** Digests of what MCP servers said of their tools. */
  mcpPins: ReadonlyMap<string, Digest>

  // graph
  /** The agents of the bundle, each after the agents it delegates to. */
  members: Member[]
  /** Published agents of the closure, by `id@version`. */
  readonly externals: Map<string, Snapshot>

  // resolve, boundaries and inline
  /** Tools and policies of the closure, by document or by `Kind id@version`. */
  readonly contracts: Map<unknown, Contract>
  readonly rulebooks: Map<unknown, Rulebook>
  guards: Rulebook[]
  /** Policies by the authority boundary that they stand for. */
  readonly boundaries: Map<string, readonly Rulebook[]>
  /** Texts and schemas that were read, by path. */
  readonly files: Map<string, FileMember>
}

export interface FileMember {
  readonly kind: 'instructions' | 'schema' | 'script'
  readonly path: string
  readonly version?: string
  readonly integrity: Digest
}

/** A Tool document with its schemas by value, from the bundle or from the registry. */
export interface Contract {
  readonly published: PublishedDocument
  readonly tool: ToolDocument
  readonly input?: JsonSchema
  readonly output?: JsonSchema
  /** Absent for one from the registry. */
  readonly document?: Document
  readonly policies: Attached[]
  requested?: string
}

/** A Policy document, read. */
export interface Rulebook {
  /** `namespace.name`. */
  readonly id: string
  readonly version: string
  readonly policy: PolicyDocument
  readonly published: PublishedDocument
  /** Absent for one from the registry. */
  readonly document?: Document
  readonly effect: 'grant' | 'restrict' | 'require_approval' | 'escalate' | 'deny'
  readonly when?: JsonObject
  readonly obligations: Obligations
  /** Logical id that `scope` names. */
  readonly scope?: string
  readonly place: Pick<Origin, 'path' | 'line' | 'pointer'>
}

/** A policy where it is attached. */
export interface Attached {
  readonly rulebook: Rulebook
  readonly at: Spot
}

/** A place in a document that a finding may point at. */
export interface Spot {
  readonly document: Document
  readonly pointer: string
}

export interface Binding {
  readonly binding: ToolBinding
  readonly at: Spot
  readonly ref: LogicalRef
  /** Absent for an MCP tool without a Tool document and for built-in tools. */
  contract?: Contract
  builtin?: BoundTool
  policies: Attached[]
  input?: JsonSchema
  bound?: BoundTool
}

export type Target =
  | { readonly at: 'local'; readonly member: Member }
  | { readonly at: 'published'; readonly snapshot: Snapshot }
  | { readonly at: 'late'; readonly id: string }

export interface Edge {
  readonly binding: AgentBinding
  readonly at: Spot
  readonly target: Target
  policies: Attached[]
  input?: JsonSchema
  bound?: Omit<BoundAgent, 'digest'>
}

/** An agent of the bundle on its way to a snapshot. */
export interface Member {
  readonly document: Document
  readonly agent: AgentDocument
  /** `namespace.name`. */
  readonly id: string
  readonly edges: Edge[]
  bindings: Binding[]
  defaults: Attached[]
  instructions: string
  script?: readonly ScriptTurn[]
  contract?: JsonSchema
  maxToolCalls?: number
  outputSchema?: JsonSchema
  policySet?: PolicySet
  snapshot?: Snapshot
}

/** A finding of compile, under the rule of the linter that says the same. */
export function report(
  work: Work,
  rule: `${string}/${string}`,
  at: Spot | Place,
  message: string,
  saying: Saying & { readonly severity?: Severity } = {},
): undefined {
  const place = 'document' in at ? at.document.placeOf(at.pointer) : at
  work.findings.push(diagnostic(rule, saying.severity ?? 'error', place, message, saying))
}

/** A published version is the one that the lock was written for: its content is, not only its number. */
export function checkPinned(
  work: Work,
  kind: 'Agent' | 'Tool' | 'Policy',
  { id, version, digest }: { readonly id: string; readonly version: string; readonly digest: Digest },
  at: Spot,
): void {
  const pinned = work.pinned.get(`${kind} ${id}@${version}`)
  if (pinned !== undefined && pinned !== digest)
    report(
      work,
      'bundle/lock-drift',
      at,
      `svc.lock pins ${id}@${version} as ${pinned}; what is published under this version is ${digest}.`,
      { fix: `Ask where the other was published, or svc compile --update ${id}.` },
    )
}

/** The document as its kind's type. Where its shape is wrong, the findings that say so are reported. */
export function typed<K extends Kind>(
  work: Work,
  document: Document,
  kind: K,
): Extract<AnyDocument, { readonly kind: K }> | undefined {
  const value = asKind(document, kind)
  if (value) return value
  const faults = work.workspace.findings.filter((each) => each.path === document.path && each.severity === 'error')
  work.findings.push(...faults)
  if (faults.length === 0)
    report(work, 'doc/schema', { document, pointer: '' }, `${document.path} is no ${kind} document.`)
  return undefined
}

export const hasErrors = (work: Work): boolean => work.findings.some((each) => each.severity === 'error')

export const idOfDocument = (document: Document): string => document.identity?.id ?? document.path
