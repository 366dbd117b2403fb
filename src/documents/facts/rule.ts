/** What a lint rule is. The rule `group/name` is the module `rules/group/name.ts`; its examples are in `test/documents/rules`. Source: lint rules. */
import type { JsonObject } from '../../base/json.ts'
import type { ToolListing } from '../../tools/listed-tool.ts'
import type { ProjectConfig } from '../../spec/config.ts'
import type { DocumentKind } from '../../spec/document.ts'
import type { FindingFix, FindingPlace, FindingText, LintSeverity } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import type { Workspace } from '../workspace/workspace.ts'

export type RuleName = `${string}/${string}`

export interface LintRule {
  readonly name: RuleName
  readonly severity: LintSeverity
  /** Severity under the profile `strict`, where it is another one. */
  readonly strict?: LintSeverity
  /** The law in one sentence. */
  readonly law: string
  /** What to do about it, as an order. */
  readonly fix: string
  /** The public document and section that states it. */
  readonly source: string
  /** True when the rule looks at other files; left out by `--no-cross-file`. */
  readonly crossFile?: true
  /** True for a rule of the profile `strict` alone, unless the configuration names it. */
  readonly strictOnly?: true
  /** Kinds of documents it is called for; absent = all. */
  readonly kinds?: readonly DocumentKind[]
  /** Absent for what reading a file itself finds. */
  readonly check?: (document: Document, report: ReportFault, project: LintProject) => void
}

/**
 * Reports a fault.
 * @param at a place, or a JSON pointer into the document (where it is absent, the mapping that should hold it is shown)
 */
export type ReportFault = (
  at: FindingPlace | string,
  message: string,
  saying?: FindingText & { readonly severity?: LintSeverity },
) => void

/** What a rule may know beside the document. */
export interface LintProject {
  readonly workspace: Workspace
  readonly published: PublishedRegistry
  readonly providers: NonNullable<ProjectConfig['providers']>
  /** Paths of the operator's own Policy documents, which concern every agent. */
  readonly guardrails: readonly string[]
  /** Environment variables by name; absent unless they are to be checked. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What is known of the server that will run the agents; absent offline. */
  readonly server?: ServerFacts
  /** What the MCP servers of agents say of their tools, by the server's name; absent unless they were asked. */
  readonly mcp?: ReadonlyMap<Document, ReadonlyMap<string, ToolListing>>
  /** By `namespace.name@version` what the tests that reach a policy have not seen; absent where none were run. */
  readonly coverage?: ReadonlyMap<string, readonly UnseenDocuments[]>
  /** What agents may do that their published predecessors might not. */
  readonly loosened?: readonly KnownLoosening[]
  /** By the path of a Bundle, or of an agent that stands alone: how its lock is written anew. */
  readonly locks?: ReadonlyMap<string, FindingFix>
}

export interface UnseenDocuments {
  /** The comparison, as people read it. */
  readonly text: string
  /** What it can come to and was not seen to come to: true, false, unknown. */
  readonly missing: readonly string[]
}

export interface KnownLoosening {
  /** `namespace.name`. */
  readonly agent: string
  /** What changed, without a full stop. */
  readonly change: string
  /** `policies/limit.yaml:11`, where it is known. */
  readonly place?: string
}

export interface ServerFacts {
  /** Identities that can approve: the operator, persons with a credential and the active API keys. */
  readonly approvers: number
  /** Agents, `namespace.name`, of which a trigger hides the timeline, with the trigger's name. */
  readonly hiddenTimelines: Readonly<Record<string, string>>
}

export interface YankMark {
  /** In the words of who yanked the version; absent where nobody gave one. */
  readonly reason?: string
}

/** What was published before, as far as references need it. */
export interface PublishedRegistry {
  /** Versions of a document that may be chosen, in any order; empty when there is none. */
  versions(kind: Exclude<DocumentKind, 'Bundle'>, id: string): readonly string[]
  /** A Tool or Policy as it was published; undefined where it was not, or is not known yet. */
  document?(kind: 'Tool' | 'Policy', id: string, version: string): JsonObject | undefined
  /** Defined for a version that is not to be chosen any more. */
  yanked?(kind: Exclude<DocumentKind, 'Bundle'>, id: string, version: string): YankMark | undefined
}
