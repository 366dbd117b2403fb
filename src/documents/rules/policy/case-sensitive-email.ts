import { leavesIn } from '../../facts/policies/conditions.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyCaseSensitiveEmail: LintRule = {
  severity: 'warning',
  law: 'E-mail addresses and hosts are compared by domain, ignoring case.',
  fix: 'Compare `email_domain(…)`, `host(…)` or `lower(…)`.',
  reason: 'Strings are compared case-sensitively, but `Ana@Example.com` and `ana@example.com` are the same mailbox.',
  kinds: ['Policy'],
  check(document, report) {
    for (const { pointer, leaf } of leavesIn(document)) {
      const { path, op, value } = leaf
      if (path.root !== 'args' || path.fn !== undefined || typeof value !== 'string') continue
      if (!/^[^\s@]*@[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(value) || (op !== 'ends_with' && op !== 'eq' && op !== 'ne'))
        continue
      const domain = op === 'ends_with' && value.startsWith('@') ? value.slice(1).toLowerCase() : undefined
      report(`${pointer}/value`, `"${value.toUpperCase()}" is the same address, but not the same text.`, {
        fix:
          domain === undefined
            ? `Write lower(${path.text}).`
            : {
                description: `Write {field: email_domain(${path.text}), op: eq, value: ${domain}}.`,
                edits: [
                  ...replaceScalarFix(document.placeOf(`${pointer}/field`), `email_domain(${path.text})`).edits,
                  ...replaceScalarFix(document.placeOf(`${pointer}/op`), 'eq').edits,
                  ...replaceScalarFix(document.placeOf(`${pointer}/value`), domain).edits,
                ],
                unsafe: true,
              },
      })
    }
  },
}
