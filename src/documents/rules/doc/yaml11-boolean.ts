import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../../facts/rule.ts'
import { everyNode, placeOfNode } from '../../text/nodes.ts'

export const yaml11Boolean: LintRule = {
  name: 'doc/yaml11-boolean',
  severity: 'warning',
  law: 'A truth value is written `true` or `false`; `yes`, `no`, `on` and `off` are texts in YAML 1.2.',
  fix: 'Write true or false, or put the text in quotes.',
  source: 'Authoring format, "Resources and their fields"; YAML 1.2, core schema',
  check(document, report) {
    const { source, root } = document
    if (!ALONE.test(source.text.slice(root.start, root.end))) return
    for (const use of everyNode(document)) {
      const { node, pointer } = use
      if (!node.plain || typeof node.value !== 'string' || !/^(?:yes|no|on|off)$/i.test(node.value)) continue
      // Where the schema wants a truth value, the shape check says it, as an error; in these a word is meant as a word.
      if (BOOLEAN.test(pointer) || TEXTS.test(pointer)) continue
      const place = placeOfNode(document, use)
      report(place, `\`${node.value}\` without quotes is a text, not a truth value.`, {
        fix: replaceScalarFix(place, /^(?:yes|on)$/i.test(node.value)),
      })
    }
  },
}

/** One of the words with nothing but marks of YAML around it on its line. Before the first of a document is a key. */
const ALONE = /[\s[{,:](?:yes|no|on|off)[ \t]*(?:[\r\n,\]}#]|$)/i
const BOOLEAN = /\/(?:strict|late_bound|comprehension_required)$/
/** Names, labels and prose; values that a list of texts holds. */
const TEXTS =
  /^\/(?:apiVersion|kind|metadata\/|secrets\/)|\/(?:description|purpose|text|reason|name|as|allow\/\d+|enum\/\d+|conditions\/.*value\/\d+)$/
