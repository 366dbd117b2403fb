import { createFinding, type Diagnostic } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import type { LintFacts, LintProject, NamedRule } from '../facts/rule.ts'

/** What a rule finds in a document, in the rule's own severity. */
export function applyRule(rule: NamedRule, document: Document, project: LintProject & LintFacts): Diagnostic[] {
  const found: Diagnostic[] = []
  if (rule.kinds?.includes(document.kind) === false) return found
  rule.check?.(
    document,
    (at, message, { severity = rule.severity, ...details } = {}) => {
      const place = typeof at === 'string' ? document.placeOf(at) : at
      found.push(createFinding(rule.name, severity, place, message, details))
    },
    project,
  )
  return found
}

/** Tells only of what the rule needs: nothing else is declared to its `check`. */
export const hasFactsFor = ({ needs = [] }: NamedRule, project: LintProject): project is LintProject & LintFacts =>
  needs.every((fact) => project[fact] !== undefined)
