import type { LintRule } from '../../facts/rule.ts'
import { everyNode } from '../../text/nodes.ts'

export const importOpenQuestion: LintRule = {
  severity: 'warning',
  law: 'What an imported source left open is answered.',
  fix: 'Answer the question, and remove the comment.',
  reason: 'An import writes the strictest value where its source says nothing.',
  check(document, report) {
    const { source } = document
    if (!source.text.includes(MARK)) return
    for (const match of source.text.matchAll(QUESTION)) {
      const [line, what = ''] = match
      const start = match.index + line.indexOf('#')
      // The value that it asks about is the next one.
      const next = everyNode(document).find(({ node, pointer }) => node.start > start && pointer !== '')
      const range = source.span(start, match.index + line.length)
      report({ path: source.path, pointer: next?.pointer ?? '', range }, what.trim())
    }
  },
}

const MARK = '# TODO(import): '
const QUESTION = /^[ \t]*# TODO\(import\): (.+)$/gm
