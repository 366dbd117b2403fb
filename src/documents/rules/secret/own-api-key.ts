import { findOwnKey, mayHoldOwnKey } from '../../text/credentials.ts'
import type { LintRule } from '../../facts/rule.ts'
import { writtenTexts } from '../../workspace/texts.ts'

export const secretOwnApiKey: LintRule = {
  severity: 'error',
  law: 'A document and the files it references contain no svc API key.',
  fix: 'Revoke it with `svc keys revoke`, and remove it.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded',
  crossFile: true,
  check(document, report, { workspace }) {
    for (const written of writtenTexts(workspace, document, mayHoldOwnKey)) {
      const found = findOwnKey(written.text)
      if (found !== undefined)
        report(written.placeOf(found.text), `This looks like an svc API key (${found.shown}).`, {
          fix: 'Revoke it with `svc keys revoke`, and remove it here.',
        })
    }
  },
}
