/** The documents of svc/v1. Generated from the JSON Schemas; what spans fields and files is checked by svc lint. */
export namespace Agents {
  /**
   * What a call does to the world. An `irreversible_action` needs an approval unless a policy grants it.
   */
  export type SideEffectClass = 'read_only' | 'idempotent_write' | 'non_idempotent_write' | 'irreversible_action'
  /**
   * Logical policy id `namespace.name`, or `{ref}` with the bundle-relative path of a Policy document.
   */
  export type PolicyAttachment =
    | string
    | {
        /**
         * Bundle-relative path of a Policy document.
         */
        ref: string
      }

  /**
   * An agent that svc can run.
   */
  export interface Agent {
    /**
     * Version of the document format.
     */
    apiVersion: 'svc/v1'
    /**
     * Kind of the document.
     */
    kind: 'Agent'
    metadata: Metadata
    secrets?: Secrets
    output?: Output
    spec: Spec
  }
  /**
   * Identity: `namespace.name@version`, and what describes the agent.
   */
  export interface Metadata {
    /**
     * Unique within the namespace: lower-case letters, digits, `-` and `_`.
     */
    name: string
    /**
     * Boundary of addressing and tenancy; may have dots.
     */
    namespace: string
    /**
     * Semver release label. In quotes where it would be a number.
     */
    version: string
    /**
     * Team or person that answers for the agent.
     */
    owner?: string
    governance?: Governance
    labels?: Labels
    annotations?: Annotations
  }
  /**
   * What the agent may do, symbolically.
   */
  export interface Governance {
    /**
     * Descriptive, no fixed list.
     */
    risk_tier?: string
    /**
     * Symbolic ids of what the agent may not do alone. Publishing compiles each into the policies whose `authority_ref` names it.
     *
     * Items: Id of a boundary, as `authority_ref` of a Policy names it.
     */
    authority_boundaries?: string[]
    /**
     * Kinds of data that the agent handles. Descriptive; conditions may read `agent.classifications`.
     *
     * Items: A kind of data.
     */
    classifications?: string[]
    frameworks?: Frameworks
  }
  /**
   * Framework pack id to any payload.
   */
  export interface Frameworks {
    [k: string]: unknown
  }
  /**
   * Descriptive pairs of text, for filtering and monitoring.
   */
  export interface Labels {
    /**
     * Any text; in quotes where it would be a number or a truth value.
     */
    [k: string]: string
  }
  /**
   * Descriptive metadata, a map of text to text.
   */
  export interface Annotations {
    /**
     * File of the JSON Schema of a start's input.
     */
    'svc/input-schema'?: string
    /**
     * Models that are tried when the agent's own fails before its first token, as YAML flow text, or the file of the bundle that lists them.
     */
    'svc/model-fallback'?: string
    /**
     * Calls of one completion; 32 without it.
     */
    'svc/max-tool-calls'?: string
    /**
     * What a run may cost with its sub-agents: amount and currency.
     */
    'svc/max-cost-per-run'?: string
    /**
     * Tokens that all runs of a conversation may use together.
     */
    'svc/max-tokens-per-session'?: string
    /**
     * Root runs that a conversation may have.
     */
    'svc/max-runs-per-session'?: string
    /**
     * Which part of a long conversation the model gets, as YAML flow text.
     */
    'svc/context'?: string
    /**
     * What happens while a model or tool cannot be reached: the run is held (`hold`, the default), or fails (`fail`).
     */
    'svc/on-outage'?: string
    /**
     * How long one cause may hold a run; 24h by default.
     */
    'svc/max-outage'?: string
    /**
     * Any text.
     */
    [k: string]: string | undefined
  }
  /**
   * Secrets by name: lower-case letters, digits, `_` and `-`, a letter first. Values are never written in documents.
   */
  export interface Secrets {
    [k: string]: Secret
  }
  /**
   * Where the value comes from.
   */
  export interface Secret {
    /**
     * Environment variable on the operator host, read at run time.
     */
    fromEnv: string
  }
  /**
   * The final output.
   */
  export interface Output {
    /**
     * Form of the final output.
     */
    format?: 'text' | 'json'
    schema?: SchemaSpec
    /**
     * The output must validate against `schema`.
     */
    strict?: boolean
    /**
     * What happens when the output does not validate: `retry` returns the errors to the model, at most twice; `repair` asks once for corrected JSON; `escalate` asks an operator; `fail` ends the run.
     */
    on_invalid?: 'retry' | 'repair' | 'escalate' | 'fail'
  }
  /**
   * A JSON Schema: exactly one of `ref` and `inline`.
   */
  export interface SchemaSpec {
    /**
     * Bundle-relative path of a JSON Schema file.
     */
    ref?: string
    inline?: JSONSchema
    /**
     * Governed revision of the file that `ref` names.
     */
    version?: string | number
  }
  /**
   * The JSON Schema itself.
   */
  export interface JSONSchema {
    [k: string]: unknown
  }
  /**
   * What the agent is made of.
   */
  export interface Spec {
    /**
     * Intent, for people. Not executed as a prompt.
     */
    purpose: string
    instructions: Instructions
    model: Model
    /**
     * Tools that the model may call.
     */
    tools?: ToolBinding[]
    /**
     * MCP servers to which bindings are routed.
     */
    mcp_servers?: MCPServer[]
    /**
     * Sub-agents to which the model may delegate. Needs a Bundle.
     */
    agents?: SubAgentBinding[]
    /**
     * Applied to every tool binding unless a more specific rule denies.
     */
    default_policies?: PolicyAttachment[]
    limits?: Limits
  }
  /**
   * System prompt: exactly one of `ref` and `text`.
   */
  export interface Instructions {
    /**
     * Bundle-relative path of the system prompt.
     */
    ref?: string
    /**
     * The system prompt itself.
     */
    text?: string
    /**
     * Governed revision of the file that `ref` names.
     */
    version?: string | number
  }
  /**
   * The model that the agent runs on.
   */
  export interface Model {
    /**
     * `anthropic` (`vendor_a`), `openai` (`vendor_b`), `openai-compatible` (`vendor_b-compatible`), `gemini`, `azure-openai`, `bedrock`, the offline `scripted`, `replay`, `auto`, or a name mapped in svc.config.yaml.
     */
    provider: string
    /**
     * Model id for the provider.
     */
    name: string
    /**
     * Absolute http(s) URL of a chat-completion endpoint. Only and always with `openai-compatible`.
     */
    base_url?: string
    /**
     * Key in `secrets` for the API key. May be omitted where a secret named after the provider exists.
     */
    secret?: string
    parameters?: ModelParameters
    reasoning?: Reasoning
    provider_options?: ProviderOptions
  }
  /**
   * Passed to the provider with each completion. `temperature` and `top_p` must not both be set.
   */
  export interface ModelParameters {
    /**
     * Randomness of the answers, usually from 0 to 1. Not together with `top_p`.
     */
    temperature?: number
    /**
     * Share of the likeliest words that are sampled from, above 0 to 1. Not together with `temperature`.
     */
    top_p?: number
    /**
     * Caps the tokens of one model response.
     */
    max_output_tokens?: number
    /**
     * Texts at which the response ends.
     *
     * Items: The answer ends before this text.
     */
    stop_sequences?: string[]
  }
  /**
   * How much the model should think.
   */
  export interface Reasoning {
    /**
     * How long the model thinks; mapped to what each provider calls it.
     */
    effort?: 'low' | 'medium' | 'high'
  }
  /**
   * Free-form options of the provider.
   */
  export interface ProviderOptions {
    [k: string]: unknown
  }
  /**
   * One tool of the agent.
   */
  export interface ToolBinding {
    /**
     * Logical tool id with an optional semver range: `namespace.name@^1.2`.
     */
    ref: string
    /**
     * Name shown to the model, where it differs from the derived one.
     */
    as?: string
    /**
     * Overrides or supplements the description of the Tool document.
     */
    description?: string
    input_schema?: SchemaSpec
    side_effect_class?: SideEffectClass
    mcp?: MCPRoute
    /**
     * Gate this binding.
     */
    policies?: PolicyAttachment[]
  }
  /**
   * Routes the binding to a declared MCP server.
   */
  export interface MCPRoute {
    /**
     * Name of an entry of `spec.mcp_servers`.
     */
    server: string
    /**
     * Name of the tool on that server; the wire name when omitted.
     */
    tool?: string
  }
  /**
   * One MCP server.
   */
  export interface MCPServer {
    /**
     * Unique within the agent; `tools[].mcp.server` names it.
     */
    name: string
    /**
     * HTTPS endpoint for streamable HTTP MCP.
     */
    url: string
    /**
     * How svc talks to the server; only one way is supported.
     */
    transport?: 'streamable_http'
    auth?: MCPAuthentication
  }
  /**
   * How requests are authenticated.
   */
  export interface MCPAuthentication {
    /**
     * `bearer`: `Authorization: Bearer`; `header`: the header that `header` names.
     */
    scheme: 'bearer' | 'header'
    /**
     * Key in `secrets`.
     */
    secret: string
    /**
     * Name of the header; required when the scheme is `header`.
     */
    header?: string
  }
  /**
   * One sub-agent.
   */
  export interface SubAgentBinding {
    /**
     * Bundle-local path, pinned `namespace.name@version`, or floating `namespace.name` with `late_bound: true`.
     */
    ref: string
    /**
     * Name shown to the parent model; derived from `ref` when omitted.
     */
    as?: string
    /**
     * What the parent model is told about the sub-agent.
     */
    description?: string
    input_schema?: SchemaSpec
    /**
     * `summary`: the final output; `full`: with the step trace.
     */
    result?: 'summary' | 'full'
    /**
     * Gate the delegation call.
     */
    policies?: PolicyAttachment[]
    /**
     * Resolved to the active deployment at call time, outside of the bundle. `ref` is then a floating `namespace.name`.
     */
    late_bound?: boolean
  }
  /**
   * Caps of a whole run.
   */
  export interface Limits {
    /**
     * Input plus output tokens of the run.
     */
    max_tokens_per_run?: number
    /**
     * Tool-calling steps before a forced stop.
     */
    max_loop_iterations?: number
    /**
     * Wall-clock budget, waits for tools included.
     */
    max_wall_clock_seconds?: number
    /**
     * Time budget for waiting for people, separate from the wall clock.
     */
    max_hitl_wait_minutes?: number
    /**
     * Deepest nesting of delegation.
     */
    max_subagent_depth?: number
    /**
     * What happens when a limit is hit.
     */
    on_limit?: 'halt' | 'escalate'
  }
}
export type Agent = Agents.Agent

export namespace Tools {
  /**
   * What a call does to the world. An `irreversible_action` needs an approval unless a policy grants it.
   */
  export type SideEffectClass = 'read_only' | 'idempotent_write' | 'non_idempotent_write' | 'irreversible_action'

  /**
   * A reusable tool contract.
   */
  export interface Tool {
    /**
     * Version of the document format.
     */
    apiVersion: 'svc/v1'
    /**
     * Kind of the document.
     */
    kind: 'Tool'
    metadata: Metadata
    spec: Spec
  }
  /**
   * Identity: `namespace.name@version`.
   */
  export interface Metadata {
    /**
     * Unique within the namespace: lower-case letters, digits, `-` and `_`.
     */
    name: string
    /**
     * Boundary of addressing and tenancy; may have dots.
     */
    namespace: string
    /**
     * Semver release label. In quotes where it would be a number.
     */
    version: string
    labels?: Labels
  }
  /**
   * Descriptive pairs of text, for filtering and monitoring.
   */
  export interface Labels {
    /**
     * Names the effect of a call, such as `refund:{args.order}`. A workspace makes at most one call with the same key.
     */
    'svc/effect-key'?: string
    /**
     * How long a call that was made holds its effect key; for ever without it.
     */
    'svc/effect-window'?: string
    /**
     * What happens to a second call with the effect key: `ask` a person, `refuse` it, or `return` the earlier result, the default of an idempotent write.
     */
    'svc/effect-repeat'?: string
    /**
     * The tool that undoes a call, as `namespace.name`, bound by the same agent; `none`: nothing undoes it.
     */
    'svc/undone-by'?: string
    /**
     * Its arguments, as JSON; `{args.order}` and `{result.id}` are values of the call that is undone.
     */
    'svc/undo-arguments'?: string
    /**
     * `untrusted`: strangers write what the tool returns. It taints the run, and its values are told apart in `source.`.
     */
    'svc/content'?: string
    /**
     * `private`: what the tool returns is not for others; any other text: not private.
     */
    'svc/data'?: string
    /**
     * `external`: what the tool is given leaves the organisation; any other text: it stays.
     */
    'svc/egress'?: string
    /**
     * `external`: the tool only accepts its call, and somebody reports the end later (`svc complete TOKEN`).
     */
    'svc/completion'?: string
    /**
     * How long to wait for the end of an external completion.
     */
    'svc/completion-timeout'?: string
    /**
     * Logical id of a read-only tool of the agent that finds out whether a call of unknown outcome happened.
     */
    'svc/probe'?: string
    /**
     * Any text; in quotes where it would be a number or a truth value.
     */
    [k: string]: string | undefined
  }
  /**
   * The contract. Where the tool runs is configured elsewhere.
   */
  export interface Spec {
    /**
     * What the tool does; shown to the model.
     */
    description?: string
    side_effect_class?: SideEffectClass
    input_schema?: SchemaSpec
    output_schema?: SchemaSpec
    /**
     * Logical policy ids `namespace.name` that gate every binding.
     *
     * Items: Logical id of a Policy, without a version.
     */
    default_policies?: string[]
  }
  /**
   * A JSON Schema: exactly one of `ref` and `inline`.
   */
  export interface SchemaSpec {
    /**
     * Bundle-relative path of a JSON Schema file.
     */
    ref?: string
    inline?: JSONSchema
    /**
     * Governed revision of the file that `ref` names.
     */
    version?: string | number
  }
  /**
   * The JSON Schema itself.
   */
  export interface JSONSchema {
    [k: string]: unknown
  }
}
export type Tool = Tools.Tool

export namespace Policies {
  /**
   * A rule that gates tool calls.
   */
  export interface Policy {
    /**
     * Version of the document format.
     */
    apiVersion: 'svc/v1'
    /**
     * Kind of the document.
     */
    kind: 'Policy'
    metadata: Metadata
    spec: Spec
  }
  /**
   * Identity: `namespace.name@version`.
   */
  export interface Metadata {
    /**
     * Unique within the namespace: lower-case letters, digits, `-` and `_`.
     */
    name: string
    /**
     * Boundary of addressing and tenancy; may have dots.
     */
    namespace: string
    /**
     * Semver release label. In quotes where it would be a number.
     */
    version: string
    labels?: Labels
  }
  /**
   * Descriptive pairs of text, for filtering and monitoring.
   */
  export interface Labels {
    /**
     * Any text; in quotes where it would be a number or a truth value.
     */
    [k: string]: string
  }
  /**
   * When the policy applies, and what it decides.
   */
  export interface Spec {
    /**
     * When the policy applies.
     */
    description?: string
    /**
     * Limits the policy to one tool: `tool:<namespace.name>`. Absent: every binding that it is attached to.
     */
    scope?: string
    /**
     * Values that the checked argument may have, when the decision type is `allow`.
     *
     * Items: A value that the checked argument may have.
     */
    allow?: string[]
    conditions?: Conditions
    decision?: Decision
  }
  /**
   * When the policy applies. A leaf compares: `{field: args.amount, op: gt, value: 100}`; `all`, `any` and `not` combine. Absent: always.
   */
  export interface Conditions {
    [k: string]: unknown
  }
  /**
   * What happens to a call that the conditions match.
   */
  export interface Decision {
    /**
     * What happens to the call. `require_approval` holds it for people, `escalate` for an operator; `block` is treated as `deny`.
     */
    type: 'allow' | 'deny' | 'require_approval' | 'escalate' | 'block'
    /**
     * Links the policy to an entry of `authority_boundaries`; authorises nothing by itself.
     */
    authority_ref?: string
    /**
     * How many different people must approve; 1 when it is left out.
     */
    approvals_required?: number
    /**
     * Shown to the approver.
     */
    reason?: string
    /**
     * What happens when the approval is rejected: `return_to_agent` or `fail`.
     */
    on_reject?: string
    /**
     * What happens when an approver edits the arguments: `revalidate`, `accept` or `reject`.
     */
    on_modify?: string
    /**
     * The approver must acknowledge the structured context.
     */
    comprehension_required?: boolean
    timeout?: Timeout
    runtime?: Runtime
  }
  /**
   * What happens when no decision arrives in time.
   */
  export interface Timeout {
    /**
     * Minutes from the question until the default is taken.
     */
    after_minutes: number
    /**
     * What happens then. Irreversible calls are never allowed by time.
     */
    default: 'deny' | 'allow' | 'escalate'
  }
  /**
   * Extensions of the implementation; keys begin with `svc/`.
   */
  export interface Runtime {
    /**
     * Path of the argument that an `allow` list checks.
     */
    'svc/allow_field'?: {
      [k: string]: unknown
    }
    /**
     * Told to the model on a denial, in place of the reason.
     */
    'svc/message'?: {
      [k: string]: unknown
    }
    /**
     * Only votes of operator credentials with this role count.
     */
    'svc/approver_role'?: {
      [k: string]: unknown
    }
    /**
     * `true`: who started the run does not vote.
     */
    'svc/separation_of_duties'?: {
      [k: string]: unknown
    }
    /**
     * Name of a standing authority: `svc policy revoke NAME` ends this grant at once, for all runs.
     */
    'svc/standing'?: {
      [k: string]: unknown
    }
    /**
     * `true`: calls that cannot be undone may be approved together, in one review of all.
     */
    'svc/bulk'?: {
      [k: string]: unknown
    }
    [k: string]: unknown
  }
}
export type Policy = Policies.Policy

export namespace Bundles {
  /**
   * A set of agents that is published together: the directory that contains this document.
   */
  export interface Bundle {
    /**
     * Version of the document format.
     */
    apiVersion: 'svc/v1'
    /**
     * Kind of the document.
     */
    kind: 'Bundle'
    metadata: Metadata
    spec: Spec
  }
  /**
   * Identity: `namespace.name@version`.
   */
  export interface Metadata {
    /**
     * Unique within the namespace: lower-case letters, digits, `-` and `_`.
     */
    name: string
    /**
     * Boundary of addressing and tenancy; may have dots.
     */
    namespace: string
    /**
     * Semver release label. In quotes where it would be a number.
     */
    version: string
    labels?: Labels
  }
  /**
   * Descriptive pairs of text, for filtering and monitoring.
   */
  export interface Labels {
    /**
     * Any text; in quotes where it would be a number or a truth value.
     */
    [k: string]: string
  }
  /**
   * What is packaged.
   */
  export interface Spec {
    /**
     * Bundle-relative path of the root Agent.
     */
    root: string
  }
}
export type Bundle = Bundles.Bundle

export type Document = Agent | Tool | Policy | Bundle
