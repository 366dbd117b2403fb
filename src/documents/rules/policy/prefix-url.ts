import { leavesIn } from '../../facts/policies/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyPrefixUrl: LintRule = {
  severity: 'warning',
  law: 'URLs are compared by host: a URL with the same prefix may belong to somebody else.',
  fix: 'Compare `host(…)`.',
  reason: '`https://example.com.attacker.net` begins with `https://example.com`.',
  kinds: ['Policy'],
  check(document, report) {
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.op !== 'starts_with' || typeof leaf.value !== 'string') continue
      // With a slash after the host, the host cannot be continued.
      const host = /^https?:\/\/([^/]*)$/i.exec(leaf.value)?.[1]
      if (host === undefined) continue
      const field = leaf.path.text
      report(`${pointer}/value`, `${leaf.value}.evil.example has this prefix too.`, {
        fix: `Write {field: host(${field}), op: eq, value: ${host === '' ? '…' : host}}.`,
      })
    }
  },
}
