/** All findings of all files in one run. The rules are listed in `rules/index.ts`. */
import type { Config } from '../spec/config.ts'
import { diagnostic, sortDiagnostics, type Diagnostic, type Severity } from './diagnostic.ts'
import type { Document } from './document.ts'
import { withoutFollowUps } from './follow-ups.ts'
import { isUnder } from './paths.ts'
import type { Project, Published, Report, Rule, ServerFacts } from './rule.ts'
import { rules } from './rules/index.ts'
import { suppress } from './suppress.ts'
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
}

/** Sorted by file and position; of the files in focus when the workspace has one. Never throws for what is in a document. */
export function lint(workspace: Workspace, options: LintOptions = {}): Diagnostic[] {
  const project: Project = {
    workspace,
    published: options.published ?? { versions: () => [] },
    providers: options.providers ?? {},
    guardrails: options.guardrails ?? [],
    ...(options.env && { env: options.env }),
    ...(options.server && { server: options.server }),
  }
  const found = [...workspace.findings]
  for (const rule of rules) {
    if (!isRun(rule.name, options)) continue
    for (const document of workspace.documents) rule.check?.(document, reporter(rule, document, found), project)
  }
  const graded = found.flatMap((each) => {
    const severity = severityOf(each, options)
    return severity === 'off' ? [] : [each.severity === severity ? each : { ...each, severity }]
  })
  const ran = (name: string): boolean => isRun(name, options)
  const kept = suppress(workspace, unique(graded), ran).filter(({ rule }) => options.rules?.[rule] !== 'off')
  const told = kept.filter(({ path }) => inFocus(workspace, path))
  return sortDiagnostics(withoutFollowUps(workspace, told))
}

/** Names of all rules, for configuration and `svc explain`. */
export const findRule = (name: string): Rule | undefined => rules.find((rule) => rule.name === name)

function isRun(name: string, options: LintOptions): boolean {
  const chosen = options.rules?.[name]
  const rule = findRule(name)
  if (chosen === 'off' || (options.crossFile === false && rule?.crossFile)) return false
  return rule?.strictOnly !== true || options.strict === true || chosen !== undefined
}

function reporter(rule: Rule, document: Document, into: Diagnostic[]): Report {
  return (at, message, saying = {}) => {
    const place = typeof at === 'string' ? document.placeOf(at) : at
    into.push(diagnostic(rule.name, saying.severity ?? rule.severity, place, message, saying))
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
  const seen = new Set<string>()
  return findings.filter((each) => {
    const key = JSON.stringify([each.rule, each.path, each.range.start.offset, each.pointer, each.message])
    return !seen.has(key) && seen.add(key)
  })
}

const inFocus = ({ focus }: Workspace, path: string): boolean =>
  focus === undefined || focus.some((each) => path === each || isUnder(each, path))
