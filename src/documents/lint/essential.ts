/** The rules that compile relies on. Source: docs/design/lint.md#essential-rules */
import type { LintProject } from '../facts/rule.ts'
import { rules } from '../rules/index.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import { memoizePerObject, memoizePerWorkspace } from '../workspace/memoize.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { applyRule, hasFactsFor } from './apply-rule.ts'

const essentialRules = rules.filter(({ essential }) => essential)
const names: ReadonlySet<string> = new Set(essentialRules.map(({ name }) => name))

/** @param rule its id */
export const isEssential = (rule: string): boolean => names.has(rule)

/** Errors of a document that must not be compiled, whatever configuration and comments say. */
export const essentialFaults = memoizePerObject((workspace, document: Document): readonly Diagnostic[] => {
  const project = documentsAlone(workspace)
  return essentialRules
    .flatMap((rule) => (hasFactsFor(rule, project) ? applyRule(rule, document, project) : []))
    .filter(({ severity }) => severity === 'error')
})

const documentsAlone = memoizePerWorkspace((workspace: Workspace): LintProject => ({
  workspace,
  published: { versions: () => [] },
  providers: {},
  guardrails: [],
}))
