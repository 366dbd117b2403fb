/** The documents of svc/v1. Generated from the JSON Schemas; what spans fields and files is checked by svc lint. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

export namespace Agents {
  /** The model that the agent runs on. */
  export interface Model {
    /** `anthropic` (`vendor_a`), `openai` (`vendor_b`), `openai-compatible` (`vendor_b-compatible`), `gemini`, `azure-openai`, `bedrock`, the offline `scripted`, `replay`, `auto`, an extension of svc: `external` (the agent stands for a client), or a name mapped in svc.config.yaml. */
    readonly provider: string
    /** Model id for the provider. */
    readonly name: string
    /** Absolute http(s) URL of a chat-completion endpoint. Only and always with `openai-compatible`. */
    readonly base_url?: string
    /** Key in `secrets` for the API key. May be omitted where a secret named after the provider exists. */
    readonly secret?: string
    /** Passed to the provider with each completion. `temperature` and `top_p` must not both be set. */
    readonly parameters?: {
      /** Randomness of the answers, usually from 0 to 1. Not together with `top_p`. */
      readonly temperature?: number
      /** Share of the likeliest words that are sampled from, above 0 to 1. Not together with `temperature`. */
      readonly top_p?: number
      /** Caps the tokens of one model response. */
      readonly max_output_tokens?: number
      /** Texts at which the response ends. */
      readonly stop_sequences?: readonly string[]
    }
    /** How much the model should think. */
    readonly reasoning?: {
      /** How long the model thinks; mapped to what each provider calls it. */
      readonly effort?: 'low' | 'medium' | 'high'
    }
    /** Free-form options of the provider. */
    readonly provider_options?: JsonObject
  }

  /** One tool of the agent. */
  export interface ToolBinding {
    /** Logical tool id with an optional semver range: `namespace.name@^1.2`. */
    readonly ref: string
    /** Name shown to the model, where it differs from the derived one. */
    readonly as?: string
    /** Overrides or supplements the description of the Tool document. */
    readonly description?: string
    /** The JSON Schema of the arguments. It may narrow what the Tool document accepts, never widen it. */
    readonly input_schema?: SchemaSpec
    /** What a call does to the world. It may be stricter than the class of the Tool document, never weaker. */
    readonly side_effect_class?: SideEffectClass
    /** Routes the binding to a declared MCP server. */
    readonly mcp?: {
      /** Name of an entry of `spec.mcp_servers`. */
      readonly server: string
      /** Name of the tool on that server; the wire name when omitted. */
      readonly tool?: string
    }
    /** Gate this binding. */
    readonly policies?: readonly PolicyAttachment[]
  }

  /** One MCP server. */
  export interface McpServer {
    /** Unique within the agent; `tools[].mcp.server` names it. */
    readonly name: string
    /** HTTPS endpoint for streamable HTTP MCP. */
    readonly url: string
    /** How svc talks to the server; only one way is supported. */
    readonly transport?: 'streamable_http'
    /** How requests are authenticated. */
    readonly auth?: {
      /** `bearer`: `Authorization: Bearer`; `header`: the header that `header` names; `client_credentials`: an OAuth token that svc asks `issuer` for, and renews; `authorization_code`: one that a person consented to with `svc mcp login`. */
      readonly scheme: 'bearer' | 'header' | 'client_credentials' | 'authorization_code'
      /** Key in `secrets`; not needed when the scheme is `authorization_code`. */
      readonly secret?: string
      /** Name of the header; required when the scheme is `header`. */
      readonly header?: string
      /** The client at the authorization server; required when the scheme is `client_credentials`. With `authorization_code` svc registers one when absent. */
      readonly client_id?: string
      /** Address of the authorization server, the only one that gets the secret; required when the scheme is `client_credentials`. With `authorization_code` the MCP server names it when absent. */
      readonly issuer?: string
      /** Scopes of the token, separated by blanks. */
      readonly scope?: string
    }
  }

  /** One sub-agent. */
  export interface AgentBinding {
    /** Bundle-local path, pinned `namespace.name@version`, or floating `namespace.name` with `late_bound: true`. */
    readonly ref: string
    /** Name shown to the parent model; derived from `ref` when omitted. */
    readonly as?: string
    /** What the parent model is told about the sub-agent. */
    readonly description?: string
    /** The JSON Schema of what the parent model gives to the sub-agent. */
    readonly input_schema?: SchemaSpec
    /** `summary`: the final output; `full`: with the step trace. */
    readonly result?: 'summary' | 'full'
    /** Gate the delegation call. */
    readonly policies?: readonly PolicyAttachment[]
    /** Resolved to the active deployment at call time, outside of the bundle. `ref` is then a floating `namespace.name`. */
    readonly late_bound?: boolean
  }

  /** Caps of a whole run. */
  export interface Limits {
    /** Input plus output tokens of the run. */
    readonly max_tokens_per_run?: number
    /** Tool-calling steps before a forced stop. */
    readonly max_loop_iterations?: number
    /** Wall-clock budget, waits for tools included. */
    readonly max_wall_clock_seconds?: number
    /** Time budget for waiting for people, separate from the wall clock. */
    readonly max_hitl_wait_minutes?: number
    /** Deepest nesting of delegation. */
    readonly max_subagent_depth?: number
    /** What happens when a limit is hit. */
    readonly on_limit?: 'halt' | 'escalate'
  }

  /** A JSON Schema: exactly one of `ref` and `inline`. */
  export interface SchemaSpec {
    /** Bundle-relative path of a JSON Schema file. */
    readonly ref?: string
    /** The JSON Schema itself. */
    readonly inline?: JsonObject
    /** Governed revision of the file that `ref` names. */
    readonly version?: string | number
  }

  /** Logical policy id `namespace.name`, or `{ref}` with the bundle-relative path of a Policy document. */
  export type PolicyAttachment =
    | string
    | {
        /** Bundle-relative path of a Policy document. */
        readonly ref: string
      }

  /** What a call does to the world. An `irreversible_action` needs an approval unless a policy grants it. */
  export type SideEffectClass = 'read_only' | 'idempotent_write' | 'non_idempotent_write' | 'irreversible_action'

  /** An agent that svc can run. */
  export interface Agent {
    /** Version of the document format. */
    readonly apiVersion: 'svc/v1'
    /** Kind of the document. */
    readonly kind: 'Agent'
    /** Identity: `namespace.name@version`, and what describes the agent. */
    readonly metadata: {
      /** Unique within the namespace: lower-case letters, digits, `-` and `_`. */
      readonly name: string
      /** Boundary of addressing and tenancy; may have dots. */
      readonly namespace: string
      /** Semver release label. In quotes where it would be a number. */
      readonly version: string
      /** Team or person that answers for the agent. */
      readonly owner?: string
      /** What the agent may do, symbolically. */
      readonly governance?: {
        /** Descriptive, no fixed list. */
        readonly risk_tier?: string
        /** Symbolic ids of what the agent may not do alone. Publishing compiles each into the policies whose `authority_ref` names it. */
        readonly authority_boundaries?: readonly string[]
        /** Kinds of data that the agent handles. Descriptive; conditions may read `agent.classifications`. */
        readonly classifications?: readonly string[]
        /** Framework pack id to any payload. */
        readonly frameworks?: JsonObject
      }
      /** Descriptive pairs of text, for filtering and monitoring. */
      readonly labels?: Readonly<Record<string, string>>
      /** Descriptive metadata, a map of text to text. */
      readonly annotations?: {
        /** File of the JSON Schema of a start's input. */
        readonly 'svc/input-schema'?: string
        /** Models that are tried when the agent's own fails before its first token, as YAML flow text, or the file of the bundle that lists them. */
        readonly 'svc/model-fallback'?: string
        /** Calls of one completion; 32 without it. */
        readonly 'svc/max-tool-calls'?: string
        /** What a run may cost with its sub-agents: amount and currency. */
        readonly 'svc/max-cost-per-run'?: string
        /** Tokens that all runs of a conversation may use together. */
        readonly 'svc/max-tokens-per-session'?: string
        /** Root runs that a conversation may have. */
        readonly 'svc/max-runs-per-session'?: string
        /** Which part of a long conversation the model gets, as YAML flow text. */
        readonly 'svc/context'?: string
        /** What happens while a model or tool cannot be reached: the run is held (`hold`, the default), or fails (`fail`). */
        readonly 'svc/on-outage'?: string
        /** How long one cause may hold a run; 24h by default. */
        readonly 'svc/max-outage'?: string
        /** Any text. */
        readonly [key: string]: string | undefined
      }
    }
    /** Secrets by name: lower-case letters, digits, `_` and `-`, a letter first. Values are never written in documents. */
    readonly secrets?: Readonly<
      Record<
        string,
        {
          /** Environment variable on the operator host, read at run time. */
          readonly fromEnv: string
        }
      >
    >
    /** The final output. */
    readonly output?: {
      /** Form of the final output. */
      readonly format?: 'text' | 'json'
      /** The JSON Schema of the output; needs `format: json`. */
      readonly schema?: SchemaSpec
      /** The output must validate against `schema`. */
      readonly strict?: boolean
      /** What happens when the output does not validate: `retry` returns the errors to the model, at most twice; `repair` asks once for corrected JSON; `escalate` asks an operator; `fail` ends the run. */
      readonly on_invalid?: 'retry' | 'repair' | 'escalate' | 'fail'
    }
    /** What the agent is made of. */
    readonly spec: {
      /** Intent, for people. Not executed as a prompt. */
      readonly purpose: string
      /** System prompt: exactly one of `ref` and `text`. */
      readonly instructions: {
        /** Bundle-relative path of the system prompt. */
        readonly ref?: string
        /** The system prompt itself. */
        readonly text?: string
        /** Governed revision of the file that `ref` names. */
        readonly version?: string | number
      }
      readonly model: Model
      /** Tools that the model may call. */
      readonly tools?: readonly ToolBinding[]
      /** MCP servers to which bindings are routed. */
      readonly mcp_servers?: readonly McpServer[]
      /** Sub-agents to which the model may delegate. Needs a Bundle. */
      readonly agents?: readonly AgentBinding[]
      /** Applied to every tool binding unless a more specific rule denies. */
      readonly default_policies?: readonly PolicyAttachment[]
      readonly limits?: Limits
    }
  }
}
export type Agent = Agents.Agent

export namespace Tools {
  /** A JSON Schema: exactly one of `ref` and `inline`. */
  export interface SchemaSpec {
    /** Bundle-relative path of a JSON Schema file. */
    readonly ref?: string
    /** The JSON Schema itself. */
    readonly inline?: JsonObject
    /** Governed revision of the file that `ref` names. */
    readonly version?: string | number
  }

  /** What a call does to the world. An `irreversible_action` needs an approval unless a policy grants it. */
  export type SideEffectClass = 'read_only' | 'idempotent_write' | 'non_idempotent_write' | 'irreversible_action'

  /** A reusable tool contract. */
  export interface Tool {
    /** Version of the document format. */
    readonly apiVersion: 'svc/v1'
    /** Kind of the document. */
    readonly kind: 'Tool'
    /** Identity: `namespace.name@version`. */
    readonly metadata: {
      /** Unique within the namespace: lower-case letters, digits, `-` and `_`. */
      readonly name: string
      /** Boundary of addressing and tenancy; may have dots. */
      readonly namespace: string
      /** Semver release label. In quotes where it would be a number. */
      readonly version: string
      /** Descriptive pairs of text, for filtering and monitoring. */
      readonly labels?: {
        /** Names the effect of a call, such as `refund:{args.order}`. A workspace makes at most one call with the same key. */
        readonly 'svc/effect-key'?: string
        /** How long a call that was made holds its effect key; for ever without it. */
        readonly 'svc/effect-window'?: string
        /** What happens to a second call with the effect key: `ask` a person, `refuse` it, or `return` the earlier result, the default of an idempotent write. */
        readonly 'svc/effect-repeat'?: string
        /** What a call does, for the person who decides it: `Refund {args.amount} {args.currency} for {args.order}`. */
        readonly 'svc/summary'?: string
        /** The tool that undoes a call, as `namespace.name`, bound by the same agent; `none`: nothing undoes it. */
        readonly 'svc/undone-by'?: string
        /** Its arguments, as JSON; `{args.order}` and `{result.id}` are values of the call that is undone. */
        readonly 'svc/undo-arguments'?: string
        /** `untrusted`: strangers write what the tool returns. It taints the run, and its values are told apart in `source.`. */
        readonly 'svc/content'?: string
        /** `private`: what the tool returns is not for others; any other text: not private. */
        readonly 'svc/data'?: string
        /** `external`: what the tool is given leaves the organisation; any other text: it stays. */
        readonly 'svc/egress'?: string
        /** `external`: the tool only accepts its call, and somebody reports the end later (`svc complete TOKEN`). */
        readonly 'svc/completion'?: string
        /** How long to wait for the end of an external completion. */
        readonly 'svc/completion-timeout'?: string
        /** Logical id of a read-only tool of the agent that finds out whether a call of unknown outcome happened. */
        readonly 'svc/probe'?: string
        /** Any text; in quotes where it would be a number or a truth value. */
        readonly [key: string]: string | undefined
      }
    }
    /** The contract. Where the tool runs is configured elsewhere. */
    readonly spec: {
      /** What the tool does; shown to the model. */
      readonly description?: string
      readonly side_effect_class?: SideEffectClass
      /** The JSON Schema of the arguments that a call takes. */
      readonly input_schema?: SchemaSpec
      /** The JSON Schema of what a call answers. */
      readonly output_schema?: SchemaSpec
      /** Logical policy ids `namespace.name` that gate every binding. */
      readonly default_policies?: readonly string[]
    }
  }
}
export type Tool = Tools.Tool

export namespace Policies {
  /** A rule that gates tool calls. */
  export interface Policy {
    /** Version of the document format. */
    readonly apiVersion: 'svc/v1'
    /** Kind of the document. */
    readonly kind: 'Policy'
    /** Identity: `namespace.name@version`. */
    readonly metadata: {
      /** Unique within the namespace: lower-case letters, digits, `-` and `_`. */
      readonly name: string
      /** Boundary of addressing and tenancy; may have dots. */
      readonly namespace: string
      /** Semver release label. In quotes where it would be a number. */
      readonly version: string
      /** Descriptive pairs of text, for filtering and monitoring. */
      readonly labels?: Readonly<Record<string, string>>
    }
    /** When the policy applies, and what it decides. */
    readonly spec: {
      /** When the policy applies. */
      readonly description?: string
      /** Limits the policy to one tool: `tool:<namespace.name>`. Absent: every binding that it is attached to. */
      readonly scope?: string
      /** Values that the checked argument may have, when the decision type is `allow`. */
      readonly allow?: readonly string[]
      /** When the policy applies. A leaf compares: `{field: args.amount, op: gt, value: 100}`; `all`, `any` and `not` combine. Absent: always. */
      readonly conditions?: JsonObject
      /** What happens to a call that the conditions match. */
      readonly decision?: {
        /** What happens to the call. `require_approval` holds it for people, `escalate` for an operator; `block` is treated as `deny`. */
        readonly type: 'allow' | 'deny' | 'require_approval' | 'escalate' | 'block'
        /** Links the policy to an entry of `authority_boundaries`; authorises nothing by itself. */
        readonly authority_ref?: string
        /** How many different people must approve; 1 when it is left out. */
        readonly approvals_required?: number
        /** Shown to the approver. */
        readonly reason?: string
        /** What happens when the approval is rejected: `return_to_agent` or `fail`. */
        readonly on_reject?: string
        /** What happens when an approver edits the arguments: `revalidate`, `accept` or `reject`. */
        readonly on_modify?: string
        /** The approver must acknowledge the structured context. */
        readonly comprehension_required?: boolean
        /** What happens when no decision arrives in time. */
        readonly timeout?: {
          /** Minutes from the question until the default is taken. */
          readonly after_minutes: number
          /** What happens then. Irreversible calls are never allowed by time. */
          readonly default: 'deny' | 'allow' | 'escalate'
        }
        /** Extensions of the implementation; keys begin with `svc/`. */
        readonly runtime?: {
          /** Path of the argument that an `allow` list checks. */
          readonly 'svc/allow_field'?: JsonValue
          /** Told to the model on a denial, in place of the reason. */
          readonly 'svc/message'?: JsonValue
          /** Only votes of operator credentials with this role count. */
          readonly 'svc/approver_role'?: JsonValue
          /** `true`: who started the run does not vote; `false`: they may. */
          readonly 'svc/separation_of_duties'?: JsonValue
          /** The least proof of an approval that counts, weakest first. */
          readonly 'svc/approval_proof'?: 'none' | 'link' | 'key' | 'ssh' | 'passkey' | 'hardware'
          /** Name of a standing authority: `svc policy revoke NAME` ends this grant at once, for all runs. */
          readonly 'svc/standing'?: JsonValue
          /** `true`: calls that cannot be undone may be approved together, in one review of all. */
          readonly 'svc/bulk'?: JsonValue
        }
      }
    }
  }
}
export type Policy = Policies.Policy

export namespace Bundles {
  /** A set of agents that is published together: the directory that contains this document. */
  export interface Bundle {
    /** Version of the document format. */
    readonly apiVersion: 'svc/v1'
    /** Kind of the document. */
    readonly kind: 'Bundle'
    /** Identity: `namespace.name@version`. */
    readonly metadata: {
      /** Unique within the namespace: lower-case letters, digits, `-` and `_`. */
      readonly name: string
      /** Boundary of addressing and tenancy; may have dots. */
      readonly namespace: string
      /** Semver release label. In quotes where it would be a number. */
      readonly version: string
      /** Descriptive pairs of text, for filtering and monitoring. */
      readonly labels?: Readonly<Record<string, string>>
    }
    /** What is packaged. */
    readonly spec: {
      /** Bundle-relative path of the root Agent. */
      readonly root: string
    }
  }
}
export type Bundle = Bundles.Bundle

export type Document = Agent | Tool | Policy | Bundle
