import type { LintRule } from '../../facts/rule.ts'
import { writtenTexts } from '../../workspace/texts.ts'

export const securityHiddenUnicode: LintRule = {
  severity: 'error',
  law: 'A document contains no invisible characters.',
  fix: 'Remove the characters.',
  reason: 'The model reads hidden text, the reviewer does not see it.',
  crossFile: true,
  check(document, report, { workspace }) {
    for (const each of writtenTexts(workspace, document, (text) => HIDDEN.test(text))) {
      const match = HIDDEN.exec(each.text)
      if (match === null) continue
      const { at } = each
      const [first] = match[0]
      const name = `U+${first!.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
      const { start, end } = at.range
      const source = workspace.source(at.path)
      const written = source.text.slice(start.offset, end.offset)
      const clean = written.replaceAll(new RegExp(HIDDEN, 'gu'), '')
      report(each.placeOf(match[0]), `This text contains invisible characters (${name}).`, {
        fix: {
          description: 'Remove them.',
          edits: clean === written ? [] : [{ path: at.path, range: at.range, text: clean }],
        },
      })
    }
  },
}

/** Tag characters, bidirectional controls, and zero-width characters inside Latin words; emoji and some scripts need joiners. */
const HIDDEN =
  /[\u{E0000}-\u{E007F}]|[\u202A-\u202E\u2066-\u2069]|(?<=[A-Za-z0-9])[\u200B-\u200D\u2060\uFEFF\u00AD]+(?=[A-Za-z0-9])/u
