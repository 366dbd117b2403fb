/**
 * The four authoring documents as values, after the shape check.
 * Field names are the documents' own.
 * Source: docs/design/authoring-format.md#resources-and-their-fields
 */
import type { JsonObject } from '../base/json/json.ts'

export const API_VERSION = 'svc/v1'
export const KINDS = ['Agent', 'Tool', 'Policy', 'Bundle'] as const
export type DocumentKind = (typeof KINDS)[number]

export const SIDE_EFFECT_CLASSES = [
  'read_only',
  'idempotent_write',
  'non_idempotent_write',
  'irreversible_action',
] as const
export type SideEffectClass = (typeof SIDE_EFFECT_CLASSES)[number]

export interface DocumentMetadata {
  readonly name: string
  readonly namespace: string
  readonly version: string
  readonly labels?: Readonly<Record<string, string>>
}

export type SchemaSpec =
  | { readonly ref: string; readonly version?: string | number; readonly inline?: never }
  | { readonly inline: JsonObject; readonly ref?: never; readonly version?: never }

export type PolicyAttachment = string | { readonly ref: string }

export interface ModelSpec {
  readonly provider: string
  readonly name: string
  readonly base_url?: string
  readonly secret?: string
  readonly parameters?: {
    readonly temperature?: number
    readonly top_p?: number
    readonly max_output_tokens?: number
    readonly stop_sequences?: readonly string[]
  }
  readonly reasoning?: { readonly effort?: 'low' | 'medium' | 'high' }
  readonly provider_options?: JsonObject
}

export interface AgentLimits {
  readonly max_tokens_per_run?: number
  readonly max_loop_iterations?: number
  readonly max_wall_clock_seconds?: number
  readonly max_hitl_wait_minutes?: number
  /** At least 1; 5 when absent. */
  readonly max_subagent_depth?: number
  readonly on_limit?: 'halt' | 'escalate'
}

export interface OutputSpec {
  readonly format?: 'text' | 'json'
  readonly schema?: SchemaSpec
  readonly strict?: boolean
  readonly on_invalid?: 'retry' | 'repair' | 'escalate' | 'fail'
}

export interface ToolBinding {
  readonly ref: string
  readonly as?: string
  readonly description?: string
  readonly input_schema?: SchemaSpec
  readonly side_effect_class?: SideEffectClass
  readonly mcp?: { readonly server: string; readonly tool?: string }
  readonly policies?: readonly PolicyAttachment[]
}

export interface McpServer {
  readonly name: string
  readonly url: string
  readonly transport?: 'streamable_http'
  readonly auth?: McpAuth
}

export type McpAuth =
  | { readonly scheme: 'bearer' | 'header'; readonly secret: string; readonly header?: string }
  | ClientCredentialsAuth
  | AuthorizationCodeAuth

/** The OAuth grant of a program that acts for itself. Source: RFC 6749, 4.4. */
export interface ClientCredentialsAuth {
  readonly scheme: 'client_credentials'
  /** The client secret. */
  readonly secret: string
  readonly client_id: string
  /** Address of the authorization server, the only one that gets the secret. */
  readonly issuer: string
  /** Separated by blanks. */
  readonly scope?: string
}

/** The OAuth grant of a person who consents once (`svc mcp login`). Source: RFC 6749, 4.1. */
export interface AuthorizationCodeAuth {
  readonly scheme: 'authorization_code'
  /** A client that is known to the authorization server; svc registers one when absent. */
  readonly client_id?: string
  /** The secret of that client; only with `client_id` and `issuer`. */
  readonly secret?: string
  /** Address of the authorization server; the MCP server names it when absent. */
  readonly issuer?: string
  /** Separated by blanks; what the MCP server asks for when absent. */
  readonly scope?: string
}

export interface AgentBinding {
  readonly ref: string
  readonly as?: string
  readonly description?: string
  readonly input_schema?: SchemaSpec
  readonly result?: 'summary' | 'full'
  readonly policies?: readonly PolicyAttachment[]
  readonly late_bound?: boolean
}

export interface AgentDocument {
  readonly apiVersion: typeof API_VERSION
  readonly kind: 'Agent'
  readonly metadata: DocumentMetadata & {
    readonly owner?: string
    readonly governance?: {
      readonly risk_tier?: string
      readonly authority_boundaries?: readonly string[]
      readonly classifications?: readonly string[]
      readonly frameworks?: JsonObject
    }
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly secrets?: Readonly<Record<string, { readonly fromEnv: string }>>
  readonly output?: OutputSpec
  readonly spec: {
    readonly purpose: string
    readonly instructions: { readonly ref?: string; readonly text?: string; readonly version?: string | number }
    readonly model: ModelSpec
    readonly tools?: readonly ToolBinding[]
    readonly mcp_servers?: readonly McpServer[]
    readonly agents?: readonly AgentBinding[]
    readonly default_policies?: readonly PolicyAttachment[]
    readonly limits?: AgentLimits
  }
}

export interface ToolDocument {
  readonly apiVersion: typeof API_VERSION
  readonly kind: 'Tool'
  readonly metadata: DocumentMetadata
  readonly spec: {
    readonly description?: string
    readonly side_effect_class?: SideEffectClass
    readonly input_schema?: SchemaSpec
    readonly output_schema?: SchemaSpec
    readonly default_policies?: readonly string[]
  }
}

export const DECISION_TYPES = ['allow', 'deny', 'require_approval', 'escalate', 'block'] as const
export type DecisionType = (typeof DECISION_TYPES)[number]

export interface PolicyDocument {
  readonly apiVersion: typeof API_VERSION
  readonly kind: 'Policy'
  readonly metadata: DocumentMetadata
  readonly spec: {
    readonly description?: string
    readonly scope?: string
    readonly allow?: readonly string[]
    readonly conditions?: JsonObject
    readonly decision?: {
      readonly type: DecisionType
      readonly authority_ref?: string
      readonly approvals_required?: number
      readonly reason?: string
      readonly on_reject?: string
      readonly on_modify?: string
      readonly comprehension_required?: boolean
      readonly timeout?: { readonly after_minutes: number; readonly default: 'deny' | 'allow' | 'escalate' }
      readonly runtime?: JsonObject
    }
  }
}

export interface BundleDocument {
  readonly apiVersion: typeof API_VERSION
  readonly kind: 'Bundle'
  readonly metadata: DocumentMetadata
  readonly spec: { readonly root: string }
}

export type AnyDocument = AgentDocument | ToolDocument | PolicyDocument | BundleDocument

/** `namespace.name`, the logical id of a document. */
export const idOf = (metadata: { readonly namespace: string; readonly name: string }): string =>
  `${metadata.namespace}.${metadata.name}`

/** Provider names in the documents' neutral spelling and in ours mean the same. Source: docs/design/http.md#ids-and-numbers */
const PROVIDER_ALIASES: Readonly<Record<string, string>> = {
  vendor_a: 'anthropic',
  vendor_b: 'openai',
  'vendor_b-compatible': 'openai-compatible',
}
export const canonicalProvider = (provider: string): string => PROVIDER_ALIASES[provider] ?? provider

/** Names a secret "named after the provider" may carry, canonical spelling first. */
export const providerSpellings = (provider: string): readonly string[] => {
  const canonical = canonicalProvider(provider)
  const neutral = Object.keys(PROVIDER_ALIASES).filter((alias) => PROVIDER_ALIASES[alias] === canonical)
  return [canonical, ...neutral]
}

/** Models that are called over the network. */
export const ONLINE_PROVIDERS = [
  'anthropic',
  'openai',
  'openai-compatible',
  'gemini',
  'azure-openai',
  'bedrock',
] as const

/** Whether a document's own name for a provider is one of these. */
export const isOnlineProvider = (provider: string): boolean =>
  ONLINE_PROVIDERS.some((each) => each === canonicalProvider(provider))

/** Models that need no key and no network. */
export const OFFLINE_PROVIDERS: readonly string[] = ['scripted', 'replay', 'auto', 'external']
