/**
 * What compile writes and the engine runs: an agent version with everything by value. The runtime never reads YAML.
 * Source: docs/design/bundles-and-authority.md#snapshots
 */
import { digestOfJson, type Digest } from '../base/digest.ts'
import { compareText } from '../base/values/compare-text.ts'
import type { JsonObject } from '../base/json/json.ts'
import type { ContextRule } from './context-rule.ts'
import type { AgentLimits, McpServer, ModelSpec, SideEffectClass } from './document.ts'
import type { PolicySet } from './policy-set.ts'
import type { Money } from './price.ts'

export type JsonSchema = JsonObject | boolean

/** Version of the tools that the engine itself carries out. */
export const BUILTIN_VERSION = '1.0.0'

/** Calls that one completion may make where its agent sets no maximum. Source: docs/design/models-and-tools.md#limits */
export const DEFAULT_MAX_TOOL_CALLS = 32

export interface BoundTool {
  /** Name on the wire to the model; unique in the agent, `^[A-Za-z0-9_-]{1,64}$`. */
  readonly wire: string
  /** Logical id, `namespace.name`. */
  readonly id: string
  /** Version of the Tool document chosen; empty for an MCP binding without one. */
  readonly version: string
  readonly description: string
  /** Shown to the model: the binding's, else the Tool's; absent = asked of the MCP server. */
  readonly inputSchema?: JsonSchema
  /** Arguments must satisfy each of these. */
  readonly inputSchemas: readonly JsonSchema[]
  readonly outputSchema?: JsonSchema
  /** The stricter of the binding's and the Tool document's; absent = undeclared, treated as unsafe. */
  readonly sideEffectClass?: SideEffectClass
  readonly labels: Readonly<Record<string, string>>
  /** `integrity` pins name, description and schema of the tool as listed by the server. */
  readonly mcp?: { readonly server: string; readonly tool: string; readonly integrity?: Digest }
  /** True for the `svc.` tools that the engine itself carries out. */
  readonly builtin?: boolean
}

/**
 * True where a result of the tool sets `run.taint`, because its content is untrusted. It affects decisions on later calls, so it is
 * part of the compiled authority. Source: docs/design/policies.md#facts
 */
export const isTaintSource = ({
  builtin,
  labels,
  mcp,
  version,
}: Pick<BoundTool, 'builtin' | 'labels' | 'mcp' | 'version'>): boolean =>
  builtin !== true && (hasUntrustedContent(labels) || (mcp !== undefined && version === ''))

/** The label by which a Tool document declares this. */
export const hasUntrustedContent = (labels: Readonly<Record<string, string>> = {}): boolean =>
  labels['svc/content'] === 'untrusted'

export interface BoundAgent {
  readonly wire: string
  readonly id: string
  /** Pinned version and the digest of its snapshot; both absent for a late-bound edge. */
  readonly version?: string
  readonly digest?: Digest
  readonly lateBound: boolean
  readonly description: string
  /** Arguments of the delegation call; absent = the child's input contract, else `{message: string}`. */
  readonly inputSchema?: JsonSchema
  readonly result: 'summary' | 'full'
}

/** One turn of a scripted model. Source: docs/design/models-and-tools.md#record-and-replay */
export interface ScriptTurn {
  /** Picks the turn by the last message: every given matcher must hold. Absent = played in order. */
  readonly when?: {
    readonly contains?: string
    readonly tool?: string
    readonly matches?: string
    readonly input?: JsonObject
  }
  readonly say?: unknown
  readonly call?: ScriptCall | readonly ScriptCall[]
  readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number }
  readonly delay_ms?: number
  readonly fail?: string | { readonly status?: number; readonly message?: string }
}
export interface ScriptCall {
  readonly tool: string
  /** Values may hold `${…}` references into the input and earlier results. */
  readonly arguments?: JsonObject
}

export interface SnapshotModel extends Omit<ModelSpec, 'provider'> {
  /** Canonical provider name. */
  readonly provider: string
  /** Key in `secrets`, already resolved from a secret named after the provider. */
  readonly secret?: string
  /** Turns of the scripted model, by value. */
  readonly script?: readonly ScriptTurn[]
}

/** Limits of a session whose root runs this agent, all its runs together. Source: docs/design/models-and-tools.md#limits */
export interface SessionLimits {
  readonly tokens?: number
  readonly runs?: number
}

export interface AgentSnapshot {
  readonly v: 1
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly version: string
  readonly owner?: string
  readonly labels: Readonly<Record<string, string>>
  readonly riskTier?: string
  readonly classifications: readonly string[]
  readonly boundaries: readonly string[]
  readonly frameworks?: JsonObject
  readonly purpose: string
  readonly instructions: { readonly text: string; readonly digest: Digest }
  readonly model: SnapshotModel
  /** Models that are tried in order when `model` fails before its first token (`svc/model-fallback`). */
  readonly fallback?: readonly SnapshotModel[]
  readonly secrets: Readonly<Record<string, { readonly fromEnv: string }>>
  readonly mcpServers: readonly McpServer[]
  readonly tools: readonly BoundTool[]
  readonly agents: readonly BoundAgent[]
  readonly limits: AgentLimits
  /** Calls that one completion may make (`svc/max-tool-calls`); absent = `DEFAULT_MAX_TOOL_CALLS`. */
  readonly maxToolCalls?: number
  /** `svc/max-cost-per-run`. */
  readonly maxCost?: Money
  /** What an outage does to a run (`svc/on-outage`); absent = holds it. */
  readonly onOutage?: 'fail'
  /** Longest hold by one outage, in milliseconds (`svc/max-outage`); absent = `DEFAULT_MAX_OUTAGE_MS`. */
  readonly maxOutageMs?: number
  /** How much of a long conversation the model gets (`svc/context`); absent = all of it. */
  readonly context?: ContextRule
  /** `svc/max-tokens-per-session` and `svc/max-runs-per-session`; absent where neither is set. */
  readonly sessionLimits?: SessionLimits
  readonly output: {
    readonly format: 'text' | 'json'
    readonly schema?: JsonSchema
    readonly strict: boolean
    readonly on_invalid: 'retry' | 'repair' | 'escalate' | 'fail'
  }
  /** JSON Schema that a start's `input` must match; absent = any object. */
  readonly inputContract?: JsonSchema
  readonly policies: PolicySet
  /** See `digestOfSnapshot`. */
  readonly digest: Digest
}

/** Digest of what a version does, without the source locations of its policies. */
export const digestOfSnapshot = ({ policies, ...rest }: Omit<AgentSnapshot, 'digest'>): Digest =>
  digestOfJson({ ...rest, policies: policies.digest })

/** A Tool or Policy document of the closure or published alone, with schemas by value. */
export interface PublishedDocument {
  readonly kind: 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: Digest
  /** The document's values, refs replaced by what they name. */
  readonly document: JsonObject
  /** True for a yanked version, which is never newly chosen. */
  readonly yanked?: boolean
  /** Reason of the yank; absent if none was given. */
  readonly yankReason?: string
}

/** Digest of a document under its identity. */
export const digestOfDocument = ({ kind, id, version, document }: Omit<PublishedDocument, 'digest'>): Digest =>
  digestOfJson({ kind, id, version, document })

/** The content of a publication: every member of a closure; `root` names the snapshot of the root. */
export interface CompiledBundle {
  /** `namespace.name` of the root agent; absent when a Tool or Policy is published alone. */
  readonly root?: string
  readonly bundle?: { readonly id: string; readonly version: string }
  readonly agents: readonly AgentSnapshot[]
  readonly documents: readonly PublishedDocument[]
  /** Identity of a deployed version. */
  readonly closureDigest: Digest
}

type NamedMember = Pick<PublishedDocument, 'kind' | 'id' | 'version' | 'digest'>

/** Order of documents in a closure. */
export const byName = (a: Omit<NamedMember, 'digest'>, b: Omit<NamedMember, 'digest'>): number =>
  compareText(a.kind, b.kind) || compareText(`${a.id}\0${a.version}`, `${b.id}\0${b.version}`)

/** @param root `namespace.name` of the root agent @param documents in the order `byName` */
export const digestOfClosure = (
  root: string | undefined,
  agents: readonly Pick<AgentSnapshot, 'id' | 'digest'>[],
  documents: readonly Pick<PublishedDocument, 'digest'>[],
): Digest =>
  digestOfJson({
    root: root ?? null,
    agents: Object.fromEntries(agents.map(({ id, digest }) => [id, digest])),
    documents: documents.map(({ digest }) => digest),
  })
