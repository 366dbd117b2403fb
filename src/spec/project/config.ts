/** `svc.config.yaml` after its shape check. Source: docs/design/command-line.md#settings */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { SideEffectClass } from '../document.ts'
import type { Trigger } from '../people/key.ts'
import type { RoutedEvent } from '../notice.ts'
import type { TokenRates } from '../price.ts'
import type { MediaKind } from '../tool-media.ts'

export const CONFIG_FILE = 'svc.config.yaml'

export type ProviderType =
  | 'anthropic'
  | 'openai'
  | 'openai-compatible'
  | 'gemini'
  | 'azure-openai'
  | 'bedrock'
  | 'scripted'
  | 'replay'
  | 'auto'

/** Environment variables that the vendors' SDKs read for another address. */
export const BASE_URL_VARIABLES: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'OPENAI_BASE_URL',
  anthropic: 'ANTHROPIC_BASE_URL',
  gemini: 'GOOGLE_GEMINI_BASE_URL',
  'azure-openai': 'AZURE_OPENAI_ENDPOINT',
}

/** The provider behind a name that documents use. */
export interface ProviderConfig {
  readonly type: ProviderType
  readonly base_url?: string
  /** The key for agents that name no secret for this provider. */
  readonly key?: { readonly fromEnv: string }
  /** AWS region, for `bedrock`. */
  readonly region?: string
  /** Dated API of Azure, for `azure-openai`. */
  readonly api_version?: string
  readonly concurrency?: number
  /** What its models take in results of tools, in place of what is known of them. */
  readonly media?: readonly MediaKind[]
}

/** The operations of an imported OpenAPI document. */
export interface OpenApiRouteConfig {
  /** Address of the API, below which the paths of its operations stand. */
  readonly url: string
  /** What `svc import openapi` wrote, relative to the config file. */
  readonly record: string
  /** Secrets by the name of the security scheme. */
  readonly security?: Readonly<Record<string, { readonly fromEnv: string }>>
  /** As for `http`; `${NAME}` is an environment variable. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Where a tool runs, by logical id (exact, or `namespace.*`). */
export type ToolRouteConfig =
  /** One process a call: JSON on stdin, JSON on stdout. Paths are relative to the config file. */
  | {
      readonly command: readonly string[]
      readonly timeout?: string
      readonly concurrency?: number
      readonly env?: readonly string[]
    }
  | {
      readonly http: { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
      readonly timeout?: string
      readonly concurrency?: number
    }
  | { readonly openapi: OpenApiRouteConfig; readonly timeout?: string; readonly concurrency?: number }
  | {
      readonly mock: readonly MockResult[]
      readonly timeout?: string
      readonly concurrency?: number
    }
  /**
   * For a tool that the manifest binds to an MCP server: how long a call may take, how long without an answer or a report of its
   * progress, and how many run at once.
   */
  | { readonly timeout?: string; readonly idle_timeout?: string; readonly concurrency?: number }

/** An MCP server that runs as a program of this machine and speaks over its standard streams. */
export interface McpProgramConfig {
  readonly command: readonly string[]
  /** Names of environment variables that it gets. */
  readonly env?: readonly string[]
  /** Relative to the config file. */
  readonly directory?: string
  /** For the program to start and to answer; 60s when absent. */
  readonly start_timeout?: string
  /** Of main memory, of it and all that it started; 4 GiB when absent. Linux only. */
  readonly memory_bytes?: number
}

export interface MockResult {
  /** Arguments that must be equal for this result; absent = every call. */
  readonly when?: JsonObject
  readonly result?: JsonValue
  readonly error?: string
  /** With `error`: the tool did nothing. */
  readonly not_executed?: boolean
  readonly delay?: string
}

/** A trigger that `svc dev` makes, in the words of a trigger. */
export interface TriggerConfig {
  /** `namespace.name`; the root agent when absent. */
  readonly agent?: string
  readonly type: 'api' | 'schedule'
  /** The type when absent. */
  readonly name?: string
  readonly cron?: string
  readonly timeZone?: string
  readonly input?: JsonObject
  readonly exposeTimeline?: boolean
  readonly allowDelete?: boolean
  readonly allowApprovals?: boolean
  readonly allowOlderVersions?: boolean
  readonly allowIps?: string[]
  readonly ratePerMinute?: number
  readonly ratePerDay?: number
  readonly maxConcurrentRuns?: number
}

/** What a trigger may and must not, where nobody says otherwise: no right that widens what its keys do, and no limit. */
export const DEFAULT_TRIGGER_SETTINGS = {
  exposeTimeline: true,
  allowDelete: false,
  allowApprovals: false,
  allowOlderVersions: false,
  allowIps: [],
  ratePerMinute: null,
  ratePerDay: null,
  maxConcurrentRuns: null,
} satisfies Partial<Trigger> & Record<Exclude<keyof TriggerConfig, TriggerIdentity>, unknown>

/** What tells a trigger of the project file from others, and when and with what it starts. */
type TriggerIdentity = 'agent' | 'type' | 'name' | 'cron' | 'timeZone' | 'input'

/** A server that is named: `--profile NAME`. */
export interface ProfileConfig {
  /** Base address of its API. */
  readonly url?: string
  /** Where the key is: a file, or a variable of the environment. */
  readonly key_file?: string
  readonly key_env?: string
  /** Its operator channel: `ssh://user@host/data/directory`. */
  readonly host?: string
}

/** Own price of a model: decimal text per million tokens. */
export interface PriceConfig extends TokenRates {
  /** `USD` when absent. */
  readonly currency?: string
  readonly context_window?: number
}

/** A secret of the server's environment. */
interface SecretReference {
  readonly fromEnv: string
}

/** An app of Slack. */
export interface SlackConfig {
  /** `xoxb-…`, the bot token. */
  readonly token: SecretReference
  /** With which Slack signs what people click; absent = nobody decides in Slack. */
  readonly signing_secret?: SecretReference
  /** Of a channel that the app is in; else `role`. */
  readonly channel?: string
  /** Each person with this role is told directly. */
  readonly role?: string
  /** `https://slack.com/api` when absent. */
  readonly api?: string
}

/** Where notices go: exactly one of `webhook`, `command`, `email`, `slack` and `teams`. */
export interface ChannelConfig {
  readonly webhook?: {
    readonly url: string
    /** `whsec_…`; two while a key is replaced. */
    readonly secrets: readonly SecretReference[]
  }
  /** One process a notice: JSON on stdin. Paths are relative to the config file. */
  readonly command?: readonly string[]
  /** Names of environment variables that the command gets. */
  readonly env?: readonly string[]
  readonly email?: {
    /** `smtps://user:password@host`. */
    readonly server: SecretReference
    readonly from: string
    readonly to: readonly string[]
    /** How long a one-time link decides, for recipients who are operators; no such links when absent. */
    readonly decide_within?: string
  }
  readonly slack?: SlackConfig
  readonly teams?: {
    /** Of a workflow; whoever knows it can post. */
    readonly url: SecretReference
  }
  /** Texts and arguments are sent, too; ids, names and classes alone when absent. */
  readonly content?: boolean
  readonly timeout?: string
  readonly concurrency?: number
}

/** Which events go to which channels. */
export interface NoticeRouteConfig {
  readonly events: readonly RoutedEvent[]
  /** `namespace.name`, `namespace.*` or `*`; every agent when absent. */
  readonly agents?: readonly string[]
  readonly classes?: readonly SideEffectClass[]
  readonly roles?: readonly string[]
  readonly to: readonly string[]
  /** Tells of a task only if it still waits after this time. */
  readonly after?: string
}

export interface NotifyConfig {
  readonly channels: Readonly<Record<string, ChannelConfig>>
  readonly routes: readonly NoticeRouteConfig[]
  /** How long before its deadline a task is announced again; 15m when absent. */
  readonly remind_before?: string
  /** When nobody is told of what can wait; always told when absent. */
  readonly quiet_hours?: QuietHoursConfig
}

/** As `within` of conditions: days and hours of a time zone. */
export interface QuietHoursConfig {
  readonly days?: readonly string[]
  readonly from?: string
  readonly to?: string
  readonly tz?: string
}

/** What people of a group may do here, each more than the one before. Source: docs/design/security.md#sign-in-for-teams */
export const OPERATOR_RIGHTS = ['read', 'approve', 'operate', 'administer'] as const
export type OperatorRight = (typeof OPERATOR_RIGHTS)[number]

/** An OpenID Connect provider, at which people sign in. */
export interface SignInConfig {
  /** On the button. */
  readonly name: string
  readonly issuer: string
  readonly client_id: string
  /** Absent for a public client. */
  readonly client_secret?: { readonly fromEnv: string } | { readonly fromFile: string }
  /** Beside `openid`; `email` when absent. */
  readonly scopes?: readonly string[]
  /** Name of the claim, or a JSON pointer into the claims; `groups` when absent. */
  readonly groups_claim?: string
  /** By the provider's name of the group. A person in none of them is not let in. */
  readonly groups: Readonly<Record<string, { readonly may: OperatorRight; readonly roles?: readonly string[] }>>
  /** Every domain when absent. */
  readonly email_domains?: readonly string[]
  /** The provider proves addresses without saying so (`email_verified`). */
  readonly assume_email_verified?: boolean
  /** `svc login --device`: a person finishes in a browser elsewhere. Whoever sends them a code signs in as them. */
  readonly allow_devices?: boolean
  /** How long ago the person may have proved to the provider who they are. */
  readonly max_age?: string
  /** Of a session, however much it is used; 12h when absent. */
  readonly ends_after?: string
  /** 12h when absent. */
  readonly ends_unused_after?: string
}

/** The model that judges outputs. Source: docs/design/evals.md#the-judge */
export interface JudgeConfig {
  /** As in documents; a name of `providers` has its address there. */
  readonly provider: string
  readonly name: string
  /** That of its provider when absent. */
  readonly key?: SecretReference
  /** Of the provider `scripted`, relative to the config file. */
  readonly script?: string
  /** How often it is asked about an output; 3 when absent. */
  readonly votes?: number
  /** Of one answer; 60s when absent. */
  readonly timeout?: string
  /** Of one evaluation; 1000 when absent. */
  readonly max_calls?: number
  /** Of one evaluation: `2.00 USD`. */
  readonly max_cost?: string
}

export interface ProjectConfig {
  readonly workspace?: string
  readonly include?: readonly string[]
  readonly providers?: Readonly<Record<string, ProviderConfig>>
  readonly tools?: Readonly<Record<string, ToolRouteConfig>>
  /** By the `url` of `spec.mcp_servers` in place of which they run. */
  readonly mcp_servers?: Readonly<Record<string, McpProgramConfig>>
  /** The program that keeps logins to MCP servers; files of the data directory when absent. */
  readonly mcp_logins?: { readonly command: readonly string[]; readonly env?: readonly string[] }
  readonly guardrails?: readonly string[]
  readonly lint?: {
    readonly profile?: 'recommended' | 'strict'
    readonly rules?: Readonly<Record<string, 'off' | 'warn' | 'error'>>
  }
  readonly limits?: { readonly max_loop_iterations?: number; readonly max_body_bytes?: number }
  /** Limits on concurrent work. */
  readonly concurrency?: {
    readonly completion?: number
    readonly tool?: number
    readonly provider?: number
    readonly server?: number
  }
  readonly circuit_breaker?: { readonly failures: number; readonly pause?: string }
  readonly plan?: {
    readonly runs_per_day?: number
    readonly tokens_per_day?: number
    /** `50.00 EUR`. */
    readonly cost_per_day?: string
    readonly storage_bytes?: number
    readonly file_bytes?: number
  }
  /** How old the last checkpoint may be that was reported: `15m`. */
  readonly audit?: { readonly checkpoint_within?: string }
  /** How long ended sessions are kept: `180d`, `10y`. */
  readonly retention?: { readonly runs?: string; readonly audit?: string }
  /** By provider name, then by model name; `*` stands for every model of the provider. */
  readonly prices?: Readonly<Record<string, Readonly<Record<string, PriceConfig>>>>
  readonly triggers?: readonly TriggerConfig[]
  readonly network?: {
    readonly allowed_hosts?: readonly string[]
    readonly hosts?: readonly string[]
    readonly origins?: readonly string[]
    readonly proxies?: readonly string[]
  }
  readonly storage?: {
    readonly url?: string
    readonly public_url?: string
    readonly region?: string
    readonly max_file_bytes?: number
  }
  /** The operator listener with the console. */
  readonly console?: {
    readonly host?: string
    readonly port?: number
    /** The address that people use, if a proxy is in front of the listener. */
    readonly url?: string
  }
  readonly sign_in?: SignInConfig
  readonly dev?: { readonly port?: number; readonly host?: string }
  /** Interfaces of other protocols over the agents, beside the API. */
  readonly evals?: { readonly judge?: JudgeConfig }
  readonly doors?: { readonly openai?: boolean; readonly ag_ui?: boolean }
  readonly notify?: NotifyConfig
  readonly profiles?: Readonly<Record<string, ProfileConfig>>
}
