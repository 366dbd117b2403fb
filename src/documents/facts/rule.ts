/**
 * The type of a lint rule. The rule `group/name` is the module `rules/group/name.ts`; its examples are in `test/documents/rules`.
 * Source: docs/design/lint.md#a-rule
 */
import type { JsonObject } from '../../base/json/json.ts'
import type { ToolListing } from '../../tools/mcp/listed-tool.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { DocumentKind } from '../../spec/document.ts'
import type { FindingPlace, FindingText, LintSeverity } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import type { Workspace } from '../workspace/workspace.ts'

export type RuleName = `${string}/${string}`

/** @template Needs facts without which the rule can say nothing */
export interface LintRule<Needs extends FactName = never> {
  readonly severity: LintSeverity
  /** Severity under the profile `strict`, where it is another one. */
  readonly strict?: LintSeverity
  /** The law in one sentence. */
  readonly law: string
  /** What to do about it, in the imperative. */
  readonly fix: string
  /** Why the law is needed, in one sentence, unless the law says it. */
  readonly reason?: string
  /** The public document and section that states the law. */
  readonly source?: string
  /** True when the rule looks at other files; left out by `--no-cross-file`. */
  readonly crossFile?: true
  /**
   * True where compile relies on the rule: it can be neither switched off, nor lowered to a warning, nor suppressed. Such a rule
   * judges by the documents alone.
   */
  readonly essential?: true
  /** True for a rule of the profile `strict` alone, unless the configuration names it. */
  readonly strictOnly?: true
  /** Kinds of documents it is called for; absent = all. */
  readonly kinds?: readonly DocumentKind[]
  /** Facts that the documents do not contain. The rule is left out where one of them is not known. */
  readonly needs?: readonly Needs[]
  /** Absent for rules that are checked while files are read. */
  readonly check?: (document: Document, report: ReportFault, project: LintProject & Pick<LintFacts, Needs>) => void
}

/** A rule with its id, which is the path of its module. */
export interface NamedRule extends LintRule<FactName> {
  readonly name: RuleName
}

/**
 * Reports a fault.
 * @param at a place, or a JSON pointer into the document (if there is no value, the nearest mapping around it is shown)
 */
export type ReportFault = (
  at: FindingPlace | string,
  message: string,
  details?: FindingText & { readonly severity?: LintSeverity },
) => void

/** What a rule may use besides the document. Facts are there where they are known; a rule that needs one names it in `needs`. */
export interface LintProject extends Partial<LintFacts> {
  readonly workspace: Workspace
  readonly published: PublishedRegistry
  readonly providers: NonNullable<ProjectConfig['providers']>
  readonly prices?: ProjectConfig['prices']
  /** Paths of the operator's own Policy documents, which apply to every agent. */
  readonly guardrails: readonly string[]
}

/** What files do not say. The command that lints finds it out. */
export interface LintFacts {
  /** Environment variables by name (`--check-env`). */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The server that will run the agents. */
  readonly server: ServerFacts
  /** Programs of tools that are not there, by the tool's id. */
  readonly missingHandlers: ReadonlyMap<string, MissingHandler>
  /** Tools as the MCP servers of agents list them, by the server's name (`--mcp-live`). */
  readonly mcp: ReadonlyMap<Document, ReadonlyMap<string, ToolListing>>
  /** Outcomes that policy tests did not reach, by `namespace.name@version`. */
  readonly coverage: ReadonlyMap<string, readonly UnseenDocuments[]>
  /** What agents may do that their published predecessors might not. */
  readonly loosened: readonly KnownLoosening[]
  readonly trust: TrustFacts
}

export type FactName = keyof LintFacts

/** The trust document beside the project. */
export interface TrustFacts {
  readonly file: string
  /** Roles that somebody has. */
  readonly roles: ReadonlySet<string>
  /** Who can publish and deploy an agent alone. @param id `namespace.name` */
  loneReleasers(id: string): readonly string[]
}

export interface MissingHandler {
  /** As the project file names it. */
  readonly file: string
  /** `svc.config.yaml:7` */
  readonly place: string
}

export interface UnseenDocuments {
  /** The comparison as text. */
  readonly text: string
  /** Possible results that no test reached: true, false, unknown. */
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
  /** Agents, `namespace.name`, of which a trigger lets keys approve but hides the timeline, with the trigger's name. */
  readonly hiddenTimelines: Readonly<Record<string, string>>
}

export interface YankMark {
  /** In the words of the person who yanked the version; absent where nobody gave one. */
  readonly reason?: string
}

/** Published documents, as far as references need them. */
export interface PublishedRegistry {
  /** Versions of a document that may be chosen, in any order; empty when there is none. */
  versions(kind: Exclude<DocumentKind, 'Bundle'>, id: string): readonly string[]
  /** A published Tool or Policy; undefined if it is not published. */
  document?(kind: 'Tool' | 'Policy', id: string, version: string): JsonObject | undefined
  /** Defined for a version that is not to be chosen any more. */
  yanked?(kind: Exclude<DocumentKind, 'Bundle'>, id: string, version: string): YankMark | undefined
}
