import { findCredential, findNamedValue } from '../credentials.ts'
import type { Rule } from '../rule.ts'
import { writtenTexts } from '../texts.ts'

export const secretLiteral: Rule = {
  name: 'secret/literal',
  severity: 'error',
  law: 'A document and the files it names hold no credential.',
  fix: 'Revoke it, and name an environment variable under `secrets`.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded',
  bad: {
    'agent.yaml': 'kind: Agent\nspec:\n  instructions: {text: Use the key sk-ant-example-0000-not-a-real-key.}\n',
  },
  good: { 'agent.yaml': 'kind: Agent\nsecrets: {scripted: {fromEnv: VENDOR_KEY}}\n' },
  crossFile: true,
  check(document, report, { workspace }) {
    for (const { text, at } of writtenTexts(workspace, document)) {
      // `secret/value-in-from-env` speaks of these.
      if (/^\/secrets\/[^/]+\/fromEnv$/.test(at.pointer) && at.path === document.path) continue
      const found = findCredential(text) ?? findNamedValue(at.pointer, text)
      if (found !== undefined)
        report(at, `This looks like a credential (${found.shown}).`, {
          why: 'Everyone who reads the document could use it.',
          fix: 'Revoke it, and name an environment variable under `secrets`.',
        })
    }
  },
}
