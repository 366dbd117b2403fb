import { flowText, MERGE_KEY, mergeKeyEdits } from '../../text/merge-keys.ts'
import { everyNode, placeOfNode } from '../../text/nodes.ts'
import { segmentsOf } from '../../../base/json/pointer.ts'
import type { LintRule } from '../../facts/rule.ts'

export const docAnchorAcrossPolicy: LintRule = {
  severity: 'info',
  law: 'A policy uses no YAML aliases: a reviewer does not see that changing the anchor changes the policy.',
  fix: 'Replace the alias by its value.',
  kinds: ['Policy'],
  check(document, report) {
    if (!document.source.text.includes('*')) return
    for (const use of everyNode(document)) {
      const { node } = use
      if (!node.alias) continue
      const place = placeOfNode(document, use)
      const written = document.source.text.slice(place.range.start.offset, place.range.end.offset)
      const isMerged = segmentsOf(use.pointer).includes(MERGE_KEY)
      const text = flowText(node.value)
      const expanded = text === undefined ? [] : [{ path: place.path, range: place.range, text }]
      report(place, `"${written}" is an alias: the value is written elsewhere.`, {
        fix: {
          description: 'Write it out.',
          edits: isMerged
            ? mergeKeyEdits(document, use.pointer.slice(0, use.pointer.lastIndexOf(MERGE_KEY) + MERGE_KEY.length))
            : expanded,
        },
      })
    }
  },
}
