import { scopeOf } from '../../facts/policies/attachments.ts'
import { toolsOf } from '../../facts/agents/bindings.ts'
import type { Document } from '../../text/document.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'
import { readLogicalRef } from '../../text/reference.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const policyScopeUnknownTool: LintRule = {
  severity: 'warning',
  law: 'The tool in the scope of a policy exists or is bound.',
  fix: 'Correct the scope.',
  source: 'Authoring format, "Policy document": `scope`',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace, published }) {
    const scope = scopeOf(document)
    if (scope === undefined || readLogicalRef(scope) === undefined) return
    const known = toolsAmong(workspace, workspace.publishedTogether(document))
    // A policy that is linted alone may refer to tools outside the workspace.
    if (known.has(scope) || known.size === 0 || published.versions('Tool', scope).length > 0) return
    const near = nearestCandidate(scope, known)
    report('/spec/scope', `No tool "${scope}" is known here.${didYouMean(near)}`, {
      why: 'The policy never applies.',
      meant: near,
      subject: [scope],
      ...(near !== undefined && { fix: proposeScalarFix(document.placeOf('/spec/scope'), `tool:${near}`) }),
    })
  },
}

/** Ids of the tools that the documents of one publication define or use. */
const toolsAmong = memoizePerObject(
  (_, around: readonly Document[]): ReadonlySet<string> =>
    new Set(
      around.flatMap((each) =>
        each.kind === 'Tool' ? (each.identity?.id ?? []) : toolsOf(each).flatMap(({ ref }) => ref?.id ?? []),
      ),
    ),
)
