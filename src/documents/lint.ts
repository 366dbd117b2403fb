/** All findings of all files in one run. The rules are listed in `rules/index.ts`. */
import type { Config } from '../spec/config.ts'
import { diagnostic, sortDiagnostics, type Diagnostic, type Severity } from './diagnostic.ts'
import type { Document } from './document.ts'
import { withoutFollowUps } from './follow-ups.ts'
import { isUnder } from './paths.ts'
import type { Project, Published, Report, Rule, RuleName, ServerFacts } from './rule.ts'
import { rules } from './rules/index.ts'
import { suppress, suppressionsIn, type Suppression } from './suppress.ts'
import type { Workspace } from './workspace.ts'

export interface LintOptions {
  /** The profile `strict`. */
  readonly strict?: boolean
  /** Severity by rule, over the rule's own. */
  readonly rules?: Readonly<Record<string, 'off' | 'warn' | 'error'>>
  /** False leaves out the rules that look at other files. */
  readonly crossFile?: boolean
  /** Documents of the registry; none when absent. */
  readonly published?: Published
  /** Provider names of the project configuration. */
  readonly providers?: Config['providers']
  /** Paths of the operator's own Policy documents. */
  readonly guardrails?: readonly string[]
  /** The environment, where its variables are to be checked. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What is known of the server. */
  readonly server?: ServerFacts
  /** What MCP servers say of their tools. */
  readonly mcp?: NonNullable<Project['mcp']>
  /** What the tests of policies have not seen. */
  readonly coverage?: NonNullable<Project['coverage']>
  /** What agents may do that their published predecessors might not. */
  readonly loosened?: NonNullable<Project['loosened']>
  /** How locks are written anew. */
  readonly locks?: NonNullable<Project['locks']>
}

/** Sorted by file and position; of the files in focus when the workspace has one. Never throws for what is in a document. */
export function lint(workspace: Workspace, options: LintOptions = {}): Diagnostic[] {
  const check = createCheck(options)(workspace)
  // Document by document: what was worked out about one is still at hand for the next rule, and its neighbours are near.
  const found = [...workspace.findings, ...workspace.documents.flatMap(check)]
  const sources = new Map(workspace.documents.map(({ source }) => [source.path, source]))
  return conclude(workspace, found, [...sources.values()].flatMap(suppressionsIn), options)
}

/** What all rules that are run say of a document, one workspace after the other. Every finding has its rule's own severity. */
export function createCheck(options: LintOptions): (workspace: Workspace) => (document: Document) => Diagnostic[] {
  let found: Diagnostic[] = []
  let current: Document | undefined
  const checks = rules.flatMap(({ check, ...rule }) =>
    check !== undefined && isRun(rule, options)
      ? [
          {
            check,
            kinds: rule.kinds,
            report: reporter(
              rule,
              () => current!,
              (each) => found.push(each),
            ),
          },
        ]
      : [],
  )
  const known: Omit<Project, 'workspace'> = {
    published: options.published ?? { versions: () => [] },
    providers: options.providers ?? {},
    guardrails: options.guardrails ?? [],
    ...(options.env && { env: options.env }),
    ...(options.server && { server: options.server }),
    ...(options.mcp && { mcp: options.mcp }),
    ...(options.coverage && { coverage: options.coverage }),
    ...(options.loosened && { loosened: options.loosened }),
    ...(options.locks && { locks: options.locks }),
  }
  return (workspace) => {
    const project: Project = { workspace, ...known }
    return (document) => {
      found = []
      current = document
      for (const { check, kinds, report } of checks)
        if (kinds === undefined || kinds.includes(document.kind)) check(document, report, project)
      return found
    }
  }
}

/**
 * What is told of all that was found: with the severities that were chosen, once, without what comments silence and what
 * follows from something else.
 * @param found those of the files' form first, then document by document
 */
export function conclude(
  workspace: Workspace,
  found: readonly Diagnostic[],
  suppressions: readonly Suppression[],
  options: LintOptions,
): Diagnostic[] {
  const graded = found.flatMap((each) => {
    const severity = severityOf(each, options)
    return severity === 'off' ? [] : [each.severity === severity ? each : { ...each, severity }]
  })
  const left = new Set(rules.filter((rule) => !isRun(rule, options)).map(({ name }) => name))
  const ran = (name: string): boolean => !left.has(name as RuleName) && options.rules?.[name] !== 'off'
  const kept = suppress(suppressions, unique(graded), ran).filter(({ rule }) => options.rules?.[rule] !== 'off')
  const told = kept.filter(({ path }) => inFocus(workspace, path))
  return sortDiagnostics(withoutFollowUps(workspace, told))
}

/** Names of all rules, for configuration and `svc explain`. */
export const findRule = (name: string): Rule | undefined => rules.find((rule) => rule.name === name)

function isRun(rule: Rule, options: LintOptions): boolean {
  const chosen = options.rules?.[rule.name]
  if (chosen === 'off' || (options.crossFile === false && rule.crossFile)) return false
  return rule.strictOnly !== true || options.strict === true || chosen !== undefined
}

/** @param current the document that is checked */
function reporter(rule: Rule, current: () => Document, tell: (found: Diagnostic) => void): Report {
  return (at, message, saying = {}) => {
    const place = typeof at === 'string' ? current().placeOf(at) : at
    tell(diagnostic(rule.name, saying.severity ?? rule.severity, place, message, saying))
  }
}

function severityOf(found: Diagnostic, options: LintOptions): Severity | 'off' {
  const chosen = options.rules?.[found.rule]
  if (chosen !== undefined) return chosen === 'warn' ? 'warning' : chosen
  const rule = options.strict === true ? findRule(found.rule) : undefined
  // A rule that called a case harmless (a loopback host) keeps its word.
  return rule?.strict !== undefined && found.severity === rule.severity ? rule.strict : found.severity
}

/** A closure that is reached from two roots says the same thing twice. */
function unique(findings: readonly Diagnostic[]): Diagnostic[] {
  const byPath = new Map<string, Map<number, Diagnostic[]>>()
  return findings.filter(({ rule, path, range, pointer, message }, at) => {
    let byOffset = byPath.get(path)
    if (byOffset === undefined) byPath.set(path, (byOffset = new Map()))
    const before = byOffset.get(range.start.offset)
    if (before === undefined) byOffset.set(range.start.offset, [findings[at]!])
    else if (before.some((each) => each.rule === rule && each.pointer === pointer && each.message === message))
      return false
    else before.push(findings[at]!)
    return true
  })
}

const inFocus = ({ focus }: Workspace, path: string): boolean =>
  focus === undefined || focus.some((each) => path === each || isUnder(each, path))
