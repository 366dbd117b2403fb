import { scopeOf } from '../../facts/policies/attachments.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { isLogicalId } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyScopeSyntax: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A scope has the form `tool:<namespace.name>`.',
  fix: 'Write `tool:namespace.name`.',
  source: 'Authoring format, "Policy document": `scope`',
  kinds: ['Policy'],
  check(document, report) {
    const tool = scopeOf(document)
    if (tool !== undefined && isLogicalId(tool)) return
    for (const scope of document.allTexts('spec.scope')) {
      const text = scope.value
      const meant = text.replace(/^tool:?\s*/, '').replace(/@.*$/, '')
      report(scope, `"${text}" is no scope: a scope names one tool, as \`tool:namespace.name\`.`, {
        fix: isLogicalId(meant)
          ? replaceScalarFix(scope, `tool:${meant}`)
          : 'Write tool:namespace.name, or leave `scope` out: the policy then concerns every call that it is attached to.',
      })
    }
  },
}
