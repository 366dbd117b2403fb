import { everyNode, placeOfNode } from '../nodes.ts'
import type { Rule } from '../rule.ts'

export const anchorAcrossPolicy: Rule = {
  name: 'doc/anchor-across-policy',
  severity: 'info',
  law: 'A policy says what it decides in its own words: an alias hides from a reviewer what changes with its anchor.',
  fix: 'Write out what the alias stands for.',
  source: 'Lint rules, "doc"',
  bad: {
    'policy.yaml':
      'apiVersion: svc/v1\nkind: Policy\nmetadata: {name: limit, namespace: pay, version: "1.0.0"}\nspec:\n  conditions:\n    all:\n      - {field: args.amount, op: gt, value: &limit 500}\n      - {field: args.fee, op: gt, value: *limit}\n  decision: {type: deny}\n',
  },
  good: {
    'policy.yaml':
      'kind: Policy\nspec:\n  conditions: {all: [{field: args.amount, op: gt, value: 500}, {field: args.fee, op: gt, value: 500}]}\n',
  },
  kinds: ['Policy'],
  check(document, report) {
    if (!document.source.text.includes('*')) return
    for (const use of everyNode(document)) {
      const { node } = use
      if (!node.alias) continue
      const place = placeOfNode(document, use)
      const written = document.source.text.slice(place.range.start.offset, place.range.end.offset)
      const scalar = node.members === undefined && node.items === undefined
      report(place, `"${written}" stands for what is written elsewhere.`, {
        fix: {
          description: 'Write it out.',
          edits: scalar ? [{ path: place.path, range: place.range, text: JSON.stringify(node.value) }] : [],
        },
      })
    }
  },
}
