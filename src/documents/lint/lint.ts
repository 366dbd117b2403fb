/** All findings of all files in one run. The rules are listed in `rules/index.ts`. */
import { createFinding, sortDiagnostics, type Diagnostic, type LintSeverity } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import { withoutFollowUps } from './follow-ups.ts'
import { isUnder } from '../text/paths.ts'
import type { LintProject, ReportFault, NamedRule, RuleName } from '../facts/rule.ts'
import { rules } from '../rules/index.ts'
import { suppressFindings, suppressionsIn } from './suppress.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** What `LintProject` lets rules use, where it is known, and which rules are run. */
export interface LintOptions extends Partial<Omit<LintProject, 'workspace'>> {
  /** The profile `strict`. */
  readonly strict?: boolean
  /** Severity by rule; overrides the rule's own. */
  readonly rules?: Readonly<Record<string, 'off' | 'warn' | 'error'>>
  /** False leaves out the rules that look at other files. */
  readonly crossFile?: boolean
}

/**
 * All findings of a workspace, sorted by file and position: what reading the files found and what the rules find, with the
 * severities of the project, without what a comment suppresses, of the files in focus where the workspace has one, and without
 * findings that only follow from another. No content of a document makes it throw.
 */
export function lintWorkspace(workspace: Workspace, options: LintOptions = {}): Diagnostic[] {
  const ruled = applyRules(workspace, options)
  const graded = [...workspace.findings, ...ruled].flatMap((each) => {
    const severity = severityOf(each, options)
    return severity === 'off' ? [] : [each.severity === severity ? each : { ...each, severity }]
  })
  const sources = new Map(workspace.documents.map(({ source }) => [source.path, source]))
  const skipped = new Set(rules.filter((rule) => !isRun(rule, options)).map(({ name }) => name))
  const ran = (name: string): boolean => !skipped.has(name as RuleName) && options.rules?.[name] !== 'off'
  const kept = suppressFindings([...sources.values()].flatMap(suppressionsIn), unique(graded), ran)
  const reported = kept.filter(({ rule, path }) => options.rules?.[rule] !== 'off' && inFocus(workspace, path))
  return sortDiagnostics(withoutFollowUps(workspace, reported))
}

/** What the rules find, document by document. Every finding has its rule's own severity. */
function applyRules(workspace: Workspace, options: LintOptions): Diagnostic[] {
  const found: Diagnostic[] = []
  const { published = { versions: () => [] }, providers = {}, guardrails = [] } = options
  const project: LintProject = { ...options, workspace, published, providers, guardrails }
  const active = rules.filter((rule) => isRun(rule, options))
  for (const document of workspace.documents)
    for (const rule of active)
      if (rule.kinds?.includes(document.kind) !== false)
        rule.check?.(document, reporter(rule, document, found), project)
  return found
}

/** Names of all rules, for configuration and `svc explain`. */
export const findRule = (name: string): NamedRule | undefined => rules.find((rule) => rule.name === name)

function isRun(rule: NamedRule, options: LintOptions): boolean {
  const chosen = options.rules?.[rule.name]
  if (chosen === 'off' || (options.crossFile === false && rule.crossFile)) return false
  return rule.strictOnly !== true || options.strict === true || chosen !== undefined
}

const reporter =
  (rule: NamedRule, document: Document, found: Diagnostic[]): ReportFault =>
  (at, message, { severity = rule.severity, ...details } = {}) => {
    const place = typeof at === 'string' ? document.placeOf(at) : at
    found.push(createFinding(rule.name, severity, place, message, details))
  }

function severityOf(found: Diagnostic, options: LintOptions): LintSeverity | 'off' {
  const chosen = options.rules?.[found.rule]
  if (chosen !== undefined) return chosen === 'warn' ? 'warning' : chosen
  const rule = options.strict === true ? findRule(found.rule) : undefined
  // A rule may lower the severity of a harmless case, such as a loopback host.
  return rule?.strict !== undefined && found.severity === rule.severity ? rule.strict : found.severity
}

/** Without repetitions: a closure that is reached from two roots is checked twice. */
function unique(findings: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>()
  return findings.filter(({ rule, path, range, pointer, message }) => {
    const key = JSON.stringify([rule, path, range.start.offset, pointer, message])
    return !seen.has(key) && seen.add(key)
  })
}

const inFocus = ({ focus }: Workspace, path: string): boolean =>
  focus === undefined || focus.some((each) => path === each || isUnder(each, path))
