import type { DocumentIdentity } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const idUnaddressable: LintRule = {
  severity: 'error',
  law: 'A name has no dot, `@`, `/`, space or upper case, and a namespace no `@`, `/` or space; references would be ambiguous. The namespace `svc` is reserved.',
  fix: 'Use lower-case letters, digits, `-` and `_`.',
  source:
    'Authoring format, "Common": `namespace` is the addressing boundary; references have the form `namespace.name@version`',
  check(document, report) {
    if (document.identity !== undefined && isAddress(document.identity)) return
    for (const name of document.texts('metadata.name')) {
      const bad = /[.@/\sA-Z]/.exec(name.value)?.[0]
      if (bad !== undefined)
        report(name, `The name "${name.value}" cannot be referred to: it contains ${describePart(bad)}.`, {
          fix: proposeScalarFix(name, suggestion(name.value), `Write "${suggestion(name.value)}".`),
        })
    }
    for (const namespace of document.texts('metadata.namespace')) {
      const bad = /[@/\s]|^\.|\.$|\.\./.exec(namespace.value)?.[0]
      if (bad !== undefined)
        report(namespace, `The namespace "${namespace.value}" cannot be referred to: it contains ${describePart(bad)}.`)
      if (/^svc(?:\.|$)/.test(namespace.value))
        report(namespace, 'The namespace "svc" is reserved for built-in tools.', {
          fix: 'Choose a namespace of your own.',
        })
    }
  },
}

/** Fast path: true when both parts are valid, as they nearly always are. */
const isAddress = ({ namespace, name }: DocumentIdentity): boolean =>
  /^[a-z0-9_-]+$/.test(name) && /^(?!svc(?:\.|$))[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(namespace)

function describePart(part: string): string {
  if (/\s/.test(part)) return 'a space'
  return /[A-Z]/.test(part) ? `the capital letter ${part}` : `"${part}"`
}

const suggestion = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^-|-$/g, '')
