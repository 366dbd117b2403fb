import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../../facts/rule.ts'
import { everyNode, placeOfNode } from '../../text/nodes.ts'

export const docYaml11Boolean: LintRule = {
  severity: 'warning',
  law: 'Booleans are `true` or `false`; `yes`, `no`, `on` and `off` are strings in YAML 1.2.',
  fix: 'Write true or false, or put the text in quotes.',
  source: 'Authoring format, "Resources and their fields"; YAML 1.2, core schema',
  check(document, report) {
    const { source, root } = document
    if (!ALONE.test(source.text.slice(root.start, root.end))) return
    for (const use of everyNode(document)) {
      const { node, pointer } = use
      if (!node.plain || typeof node.value !== 'string' || !/^(?:yes|no|on|off)$/i.test(node.value)) continue
      // Where the schema requires a boolean, the shape check reports an error; in these fields the word is meant as text.
      if (BOOLEAN.test(pointer) || TEXTS.test(pointer)) continue
      const place = placeOfNode(document, use)
      report(place, `\`${node.value}\` without quotes is a string, not a boolean.`, {
        fix: replaceScalarFix(place, /^(?:yes|on)$/i.test(node.value)),
      })
    }
  },
}

/** One of the words, alone on its line apart from YAML punctuation and a key before it. */
const ALONE = /[\s[{,:](?:yes|no|on|off)[ \t]*(?:[\r\n,\]}#]|$)/i
const BOOLEAN = /\/(?:strict|late_bound|comprehension_required)$/
/** Fields that hold names, labels, prose or lists of strings. */
const TEXTS =
  /^\/(?:apiVersion|kind|metadata\/|secrets\/)|\/(?:description|purpose|text|reason|name|as|allow\/\d+|enum\/\d+|conditions\/.*value\/\d+)$/
