/** All findings of all files in one run. The rules are listed in `rules/index.ts`. */
import { sortDiagnostics, type Diagnostic, type LintSeverity } from '../text/diagnostic.ts'
import { applyRule, hasFactsFor } from './apply-rule.ts'
import { isEssential } from './essential.ts'
import { withoutFollowUps } from './follow-ups.ts'
import { isUnder } from '../text/paths.ts'
import type { FactName, LintFacts, LintProject, NamedRule } from '../facts/rule.ts'
import { rules } from '../rules/index.ts'
import { suppressFindings, suppressionsIn } from './suppress.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** What `LintProject` lets rules use, where it is known, and which rules are run. */
export interface LintOptions extends Partial<Omit<LintProject, 'workspace'>> {
  /** The profile `strict`. */
  readonly strict?: boolean
  /** Severity by rule; overrides the rule's own. Has no effect on an essential rule. */
  readonly rules?: Readonly<Record<string, 'off' | 'warn' | 'error'>>
  /** False leaves out the rules that look at other files. */
  readonly crossFile?: boolean
}

/** One lint of a workspace. Each rule runs once, as soon as the facts that it needs are known. */
export interface LintRun {
  /** True where a rule that is not switched off needs the fact for a document of the workspace. */
  needs(fact: FactName): boolean
  /** Runs the rules that have not run and need no more than these facts and earlier ones. */
  check(facts: Partial<LintFacts>): void
  /** What was found so far, in the files in focus. @param everywhere true for all files */
  findings(everywhere?: boolean): Diagnostic[]
}

/**
 * All findings of a workspace, sorted by file and position: what reading the files found and what the rules find, with the
 * severities of the project, without what a comment suppresses, of the files in focus where the workspace has one, and without
 * findings that only follow from another. No content of a document makes it throw.
 */
export function lintWorkspace(workspace: Workspace, options: LintOptions = {}): Diagnostic[] {
  const run = openLint(workspace, options)
  run.check({})
  return run.findings()
}

export function openLint(workspace: Workspace, given: LintOptions = {}): LintRun {
  const options = { ...given, rules: withoutEssential(given.rules) }
  const { published = { versions: () => [] }, providers = {}, guardrails = [] } = options
  const kinds = new Set(workspace.documents.map(({ kind }) => kind))
  const waiting = new Set(rules.filter((rule) => isRun(rule, options)))
  const ran = new Set<string>()
  const found = [...workspace.findings]
  let project: LintProject = { ...options, workspace, published, providers, guardrails }
  return {
    needs: (fact) =>
      [...waiting].some(
        ({ needs, kinds: wanted }) => needs?.includes(fact) && wanted?.some((kind) => kinds.has(kind)) !== false,
      ),
    check(facts) {
      project = { ...project, ...facts }
      for (const rule of waiting) {
        if (!hasFactsFor(rule, project)) continue
        waiting.delete(rule)
        ran.add(rule.name)
        for (const document of workspace.documents) found.push(...applyRule(rule, document, project))
      }
    },
    findings: (everywhere = false) => reportedFindings(workspace, options, found, ran, everywhere),
  }
}

/** No configuration decides about an essential rule. */
const withoutEssential = (severities: LintOptions['rules'] = {}): NonNullable<LintOptions['rules']> =>
  Object.fromEntries(Object.entries(severities).filter(([rule]) => !isEssential(rule)))

function reportedFindings(
  workspace: Workspace,
  options: LintOptions,
  found: readonly Diagnostic[],
  ran: ReadonlySet<string>,
  everywhere: boolean,
): Diagnostic[] {
  const graded = found.flatMap((each) => {
    const severity = severityOf(each, options)
    return severity === 'off' ? [] : [each.severity === severity ? each : { ...each, severity }]
  })
  const sources = new Map(workspace.documents.map(({ source }) => [source.path, source]))
  const kept = suppressFindings([...sources.values()].flatMap(suppressionsIn), unique(graded), (name) => ran.has(name))
  const reported = kept.filter(
    ({ rule, path }) => options.rules?.[rule] !== 'off' && (everywhere || inFocus(workspace, path)),
  )
  return sortDiagnostics(withoutFollowUps(workspace, reported))
}

/** Names of all rules, for configuration and `svc explain`. */
export const findRule = (name: string): NamedRule | undefined => rules.find((rule) => rule.name === name)

function isRun(rule: NamedRule, options: LintOptions): boolean {
  const chosen = options.rules?.[rule.name]
  if (chosen === 'off' || (options.crossFile === false && rule.crossFile)) return false
  return rule.strictOnly !== true || options.strict === true || chosen !== undefined
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
