import { HIDDEN_CHARACTER } from '../../../base/text/invisible-text.ts'
import { canonicalJson } from '../../../base/json/json.ts'
import { mcpUsesOf } from '../../facts/agents/mcp-uses.ts'
import type { LintProject, LintRule } from '../../facts/rule.ts'
import type { Document } from '../../text/document.ts'
import { writtenTexts } from '../../workspace/texts.ts'
import { codePointName } from '../../../base/text/text-parts.ts'

export const securityHiddenUnicode: LintRule = {
  severity: 'error',
  law: 'A document, and what MCP servers say of its tools, contains no invisible characters.',
  fix: 'Remove the characters.',
  reason: 'The model reads hidden text, the reviewer does not see it.',
  crossFile: true,
  check(document, report, project) {
    const { workspace } = project
    for (const { pointer, server, tool, name } of hiddenInListings(document, project))
      report(pointer, `MCP server "${server}" describes "${tool}" with invisible characters (${name}).`, {
        fix: 'Describe the tool in a Tool document, or use another server.',
      })
    for (const each of writtenTexts(workspace, document, (text) => HIDDEN.test(text))) {
      const match = HIDDEN.exec(each.text)
      if (match === null) continue
      const { at } = each
      const name = codePointName(match[0])
      const { start, end } = at.range
      const source = workspace.source(at.path)
      const written = source.text.slice(start.offset, end.offset)
      const clean = written.replaceAll(EVERY_HIDDEN, '')
      report(each.placeOf(match[0]), `This text contains invisible characters (${name}).`, {
        fix: {
          description: 'Remove them.',
          edits: clean === written ? [] : [{ path: at.path, range: at.range, text: clean }],
        },
      })
    }
  },
}

const HIDDEN = new RegExp(`(?:${HIDDEN_CHARACTER})+`, 'u')
const EVERY_HIDDEN = new RegExp(HIDDEN_CHARACTER, 'gu')

/** Hidden characters in what MCP servers say of the tools that the agent uses. */
function* hiddenInListings(document: Document, { workspace, mcp }: LintProject) {
  const listings = mcp?.get(document)
  if (listings === undefined) return
  for (const { use, server, tool } of mcpUsesOf(workspace, document)) {
    const listing = listings.get(server)
    const listed = listing === undefined || 'problem' in listing ? undefined : listing.tools.get(tool)
    const match = listed && HIDDEN.exec(canonicalJson({ ...listed }))
    if (match) yield { pointer: `${use.pointer}/mcp`, server, tool, name: codePointName(match[0]) }
  }
}
