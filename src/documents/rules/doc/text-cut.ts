import type { LintRule } from '../../facts/rule.ts'
import { everyNode, placeOfNode } from '../../text/nodes.ts'

export const docTextCut: LintRule = {
  severity: 'warning',
  law: 'A text without quotes ends before ` #`: what follows is a comment.',
  fix: 'Put the text in quotes.',
  reason: 'The rest of the sentence reaches neither the model nor a person.',
  source: 'YAML 1.2, section 6.6',
  check(document, report) {
    const { source } = document
    if (!source.text.includes(' #')) return
    for (const use of everyNode(document)) {
      const { node, pointer } = use
      if (!node.plain || typeof node.value !== 'string') continue
      const [comment] = COMMENT.exec(source.text.slice(node.end)) ?? []
      if (comment === undefined || !looksCut(pointer, node.value, comment)) continue
      report(placeOfNode(document, use), `The text ends before "${comment.trim()}", which is a comment.`, {
        fix: 'Put the whole text in quotes, or two spaces before a comment.',
      })
    }
  },
}

/** Up to the end of the line. */
const COMMENT = /^[ \t]+#[^\r\n]*/

/** `issue #12`, or a sentence that goes on behind the mark. Who means a comment writes `# ` behind two spaces or a whole sentence. */
function looksCut(pointer: string, text: string, comment: string): boolean {
  if (!PROSE.test(pointer) && !/\s/.test(text)) return false
  if (/^[ \t]+#[^\s#!:]/.test(comment) && !DIRECTIVE.test(comment)) return true
  return /^ # ?[\p{Ll}\d]/u.test(comment) && PROSE.test(pointer) && !/[.!?:;)]$/.test(text)
}

const PROSE = /\/(?:purpose|description|text|reason|title|message|question|instructions)$/

/** Comments that programs read. */
const DIRECTIVE = /#(?:svc-|yaml-|region|endregion|noqa|nosec|pragma|TODO|FIXME)/
