/** The state that the stages of one compilation share. Each stage fills in one part and may rely on those before it. */
import type { Digest } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json/json.ts'
import {
  createFinding,
  type Diagnostic,
  type FindingPlace,
  type FindingText,
  type LintSeverity,
} from '../../documents/text/diagnostic.ts'
import { essentialFaults } from '../../documents/lint/essential.ts'
import { asKind, type Document } from '../../documents/text/document.ts'
import type { LogicalRef } from '../../documents/text/reference.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type {
  AgentBinding,
  AgentDocument,
  ModelSpec,
  AnyDocument,
  DocumentKind,
  PolicyDocument,
  ToolBinding,
  ToolDocument,
} from '../../spec/document.ts'
import type { OutageTerms } from '../../documents/facts/outage.ts'
import type { Money } from '../../spec/price.ts'
import type { ApprovalObligations, PolicyOrigin, PolicySet } from '../../spec/policy-set.ts'
import type {
  BoundAgent,
  BoundTool,
  JsonSchema,
  PublishedDocument,
  ScriptTurn,
  AgentSnapshot,
  SessionLimits,
} from '../../spec/snapshot.ts'
import type { ContextRule } from '../../spec/context-rule.ts'
import type { McpToolLister } from '../../tools/mcp/mcp-listing.ts'
import type { LockFile } from './lock-file.ts'
import type { PublishedLookup } from './published.ts'

export interface CompileState {
  readonly workspace: Workspace
  /** Path of what to compile, as given. */
  readonly root: string
  readonly published: PublishedLookup
  /** Id of a registry member to choose again. */
  readonly update: string | undefined
  readonly askMcp: McpToolLister | undefined
  /** Paths of Policy documents that apply to every agent. */
  readonly guardrails: readonly string[]
  readonly strict: boolean
  /** The version under which a document of this workspace will be published. */
  version(written: string): string
  readonly findings: Diagnostic[]

  // locate
  /** The document that is compiled: the root agent, or a Tool or Policy alone. */
  subject?: Document
  bundle?: Document
  /** Path of the lock in the workspace, whether or not the file exists. */
  lockPath?: string
  /** The lock as it is read. */
  locked?: LockFile
  /** Versions that the lock chose from the registry, by `Kind id`. */
  pins: ReadonlyMap<string, readonly string[]>
  /** Digests of what the lock chose from the registry, by `Kind id@version`. */
  pinned: ReadonlyMap<string, Digest>
  /** Digests of the tools of MCP servers. */
  mcpPins: ReadonlyMap<string, Digest>

  // graph
  /** The agents of the bundle, each after the agents it delegates to. */
  members: BundleAgent[]
  /** Published agents of the closure, by `id@version`. */
  readonly externals: Map<string, AgentSnapshot>

  // resolve, boundaries and inline
  /** Tools and policies of the closure, by document or by `Kind id@version`. */
  readonly contracts: Map<unknown, ToolContract>
  readonly resolvedPolicies: Map<unknown, ResolvedPolicy>
  guardrailPolicies: ResolvedPolicy[]
  /** Policies by the authority boundary that they implement. */
  readonly boundaries: Map<string, readonly ResolvedPolicy[]>
  /** Texts and schemas that were read, by path. */
  readonly files: Map<string, FileMember>
}

export interface FileMember {
  readonly kind: 'instructions' | 'schema' | 'script' | 'models'
  readonly path: string
  readonly version?: string
  readonly integrity: Digest
}

/** A Tool document with its schemas by value, from the bundle or from the registry. */
export interface ToolContract {
  readonly published: PublishedDocument
  readonly tool: ToolDocument
  readonly input?: JsonSchema
  readonly output?: JsonSchema
  /** Absent for one from the registry. */
  readonly document?: Document
  readonly policies: AttachedPolicy[]
  requested?: string
}

/** A Policy document after reading. */
export interface ResolvedPolicy {
  /** `namespace.name`. */
  readonly id: string
  readonly version: string
  readonly policy: PolicyDocument
  readonly published: PublishedDocument
  /** Absent for one from the registry. */
  readonly document?: Document
  readonly effect: 'grant' | 'restrict' | 'require_approval' | 'escalate' | 'deny'
  readonly when?: JsonObject
  readonly obligations: ApprovalObligations
  /** Logical id that `scope` names. */
  readonly scope?: string
  readonly place: Pick<PolicyOrigin, 'path' | 'line' | 'pointer'>
}

/** A policy where it is attached. */
export interface AttachedPolicy {
  readonly resolvedPolicy: ResolvedPolicy
  readonly at: DocumentPlace
}

/** A place in a document to which a finding can point. */
export interface DocumentPlace {
  readonly document: Document
  readonly pointer: string
}

export interface ResolvedTool {
  readonly binding: ToolBinding
  readonly at: DocumentPlace
  readonly ref: LogicalRef
  /** Absent for an MCP tool without a Tool document and for built-in tools. */
  contract?: ToolContract
  builtin?: BoundTool
  policies: AttachedPolicy[]
  input?: JsonSchema
  bound?: BoundTool
}

export type AgentTarget =
  | { readonly at: 'local'; readonly member: BundleAgent }
  | { readonly at: 'published'; readonly snapshot: AgentSnapshot }
  | { readonly at: 'late'; readonly id: string }

export interface ResolvedSubAgent {
  readonly binding: AgentBinding
  readonly at: DocumentPlace
  readonly target: AgentTarget
  policies: AttachedPolicy[]
  input?: JsonSchema
  bound?: Omit<BoundAgent, 'digest'>
}

/** An agent of the bundle, before it becomes a snapshot. */
export interface BundleAgent {
  readonly document: Document
  readonly agent: AgentDocument
  /** `namespace.name`. */
  readonly id: string
  readonly edges: ResolvedSubAgent[]
  bindings: ResolvedTool[]
  defaults: AttachedPolicy[]
  instructions: string
  script?: readonly ScriptTurn[]
  contract?: JsonSchema
  maxToolCalls?: number
  maxCost?: Money
  /** `svc/on-outage` and `svc/max-outage`. */
  outage?: OutageTerms
  sessionLimits?: SessionLimits
  /** `svc/context`. */
  context?: ContextRule
  /** Models of `svc/model-fallback`. */
  fallback?: readonly ModelSpec[]
  outputSchema?: JsonSchema
  policySet?: PolicySet
  snapshot?: AgentSnapshot
}

/** Reports an error or warning under the lint rule with the same meaning. */
export function reportFinding(
  state: CompileState,
  rule: `${string}/${string}`,
  at: DocumentPlace | FindingPlace,
  message: string,
  details: FindingText & { readonly severity?: LintSeverity } = {},
): undefined {
  const place = 'document' in at ? at.document.placeOf(at.pointer) : at
  state.findings.push(createFinding(rule, details.severity ?? 'error', place, message, details))
}

/** Checks that a published version has the content that the lock pins, not only the number. */
export function checkPinned(
  state: CompileState,
  kind: 'Agent' | 'Tool' | 'Policy',
  { id, version, digest }: { readonly id: string; readonly version: string; readonly digest: Digest },
  at: DocumentPlace,
): void {
  const pinned = state.pinned.get(`${kind} ${id}@${version}`)
  if (pinned !== undefined && pinned !== digest)
    reportFinding(
      state,
      'bundle/lock-drift',
      at,
      `svc.lock pins ${id}@${version} as ${pinned}; the registry has ${digest} under this version.`,
      { fix: `Ask where the other was published, or svc compile --update ${id}.` },
    )
}

/**
 * The document as the type of its kind. Undefined if its shape is wrong or an essential rule finds an error, which is then
 * reported. Every document that a compilation reads comes through here, so stages rely on what these rules say.
 */
export function typedDocument<K extends DocumentKind>(
  state: CompileState,
  document: Document,
  kind: K,
): Extract<AnyDocument, { readonly kind: K }> | undefined {
  const value = asKind(document, kind)
  const faults = value
    ? essentialFaults(state.workspace, document)
    : state.workspace.findings.filter((each) => each.path === document.path && each.severity === 'error')
  state.findings.push(...faults)
  if (faults.length === 0 && !value)
    reportFinding(state, 'doc/schema', { document, pointer: '' }, `${document.path} is no ${kind} document.`)
  return faults.length === 0 ? value : undefined
}

/** What an essential rule excludes. @throws always: lint and compile disagree about the document */
export function failUnchecked(rule: `${string}/${string}`, { document, pointer }: DocumentPlace): never {
  const { path, range } = document.placeOf(pointer)
  throw new Error(`${rule} does not hold at ${path}:${range.start.line}, which lint has to find.`)
}

export const hasErrors = (state: CompileState): boolean => state.findings.some((each) => each.severity === 'error')

export const idOfDocument = (document: Document): string => document.identity?.id ?? document.path
