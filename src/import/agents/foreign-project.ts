/** What an importer of agents reads, in terms that all sources share. A new importer makes these values and nothing else. */
import type { JsonObject } from '../../base/json/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { LossList } from '../losses.ts'

/** What an importer of agents gets. */
export interface AgentSource {
  /** Absolute. */
  readonly path: string
  /** As the person gave it. */
  readonly name: string
  /** Further files that the person gave, absolute. */
  readonly more: readonly string[]
  readonly losses: LossList
}

export interface ForeignProject {
  /** The namespace is made of it. */
  readonly title: string
  readonly agents: readonly ForeignAgent[]
  /** Name of the agent that stands for the whole, where the source says which. */
  readonly root: string | undefined
}

export interface ForeignAgent {
  /** Unique in its source. */
  readonly name: string
  /** Place in the source, for the table of losses. */
  readonly at: string
  readonly purpose: string | undefined
  readonly instructions: string
  readonly model: ForeignModel
  readonly tools: readonly ForeignTool[]
  /** Names of agents of the same source. */
  readonly agents: readonly string[]
  readonly maxIterations?: number
  /** JSON Schema of the input of a start. */
  readonly input?: JsonObject
  /** JSON Schema of the output. */
  readonly output?: JsonObject
}

export interface ForeignModel {
  /** As svc names it; undefined where the source names no model of a provider. */
  readonly provider: string | undefined
  readonly name: string
  readonly baseUrl?: string
  /** Environment variable of the key, where the source names it. */
  readonly keyVariable?: string
  readonly temperature?: number
  readonly topP?: number
  readonly maxTokens?: number
  readonly effort?: 'low' | 'medium' | 'high'
}

/** What the source says before a call; `unclassified` asks a person until somebody has said what a call does. */
export type ForeignRule = 'deny' | 'ask' | 'allow' | 'unclassified'

export interface ForeignTool {
  /** As its server, or its program, calls it. */
  readonly name: string
  readonly at: string
  /** As the source's model sees it, where that is another name. */
  readonly shownAs?: string
  readonly description?: string
  readonly server?: ForeignServer
  /** Undefined where only the server knows it. */
  readonly input?: JsonObject
  /** Undefined where the source does not say what a call does. */
  readonly sideEffect?: SideEffectClass
  /** A sentence about what its server says that a call does: a claim, never the class. */
  readonly hint?: string
  readonly rule?: ForeignRule
}

/** An MCP server: an address, or a program. */
export interface ForeignServer {
  readonly name: string
  readonly at: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Where the program runs, relative to the project; absent = in the project. */
  readonly directory?: string
}
