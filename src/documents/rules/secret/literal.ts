import { findCredential, findNamedValue, mayHoldCredential } from '../../text/credentials.ts'
import type { LintRule } from '../../facts/rule.ts'
import { writtenTexts } from '../../workspace/texts.ts'

export const secretLiteral: LintRule = {
  severity: 'error',
  law: 'A document and the files it references contain no credential.',
  fix: 'Revoke it, and name an environment variable under `secrets`.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded',
  crossFile: true,
  check(document, report, { workspace }) {
    for (const written of writtenTexts(workspace, document, mayHoldCredential)) {
      const { text, pointer } = written
      const found = findCredential(text) ?? findNamedValue(pointer, text)
      if (found === undefined) continue
      // `secret/value-in-from-env` reports these.
      if (/^\/secrets\/[^/]+\/fromEnv$/.test(pointer)) continue
      // `secret/in-url` and `model/base-url-invalid` report user names and passwords in these URLs.
      if (found.text.endsWith('@') && /\/(?:url|base_url)$/.test(pointer)) continue
      report(written.placeOf(found.text), `This looks like a credential (${found.shown}).`, {
        why: 'Everyone who reads the document could use it.',
        fix: 'Revoke it, and name an environment variable under `secrets`.',
      })
    }
  },
}
