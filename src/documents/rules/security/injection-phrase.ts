import { describedTexts } from '../../facts/agents/described.ts'
import type { Document } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import { schemasOf } from '../../schemas/schemas.ts'
import { mayContain } from '../../workspace/texts.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const securityInjectionPhrase: LintRule = {
  severity: 'warning',
  law: 'A description gives the model no orders and hides nothing from the user.',
  fix: 'Rewrite the description: say what the tool does, give no orders.',
  reason: 'The model follows descriptions as if they were instructions.',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check(document, report, { workspace }) {
    if (isAtHand(workspace, document) && !mayContain(document, mayOrder)) return
    for (const described of describedTexts(workspace, document)) {
      const match = PHRASE.exec(described.text)
      if (match !== null) report(described.at, `This description gives the model orders: "${match[0]}".`)
    }
  },
}

/** True when all schemas of a document are inline. */
const isAtHand = (workspace: Workspace, document: Document): boolean =>
  schemasOf(workspace, document).every(({ ref }) => ref === undefined)

/** Fast path: every phrase contains one of these words, however the file wraps the text. */
const mayOrder = (text: string): boolean =>
  /ignore|disregard|forget|override|user|must|<\/?(?:important|system|secret|instruction)/i.test(text)

const PHRASE =
  /\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier|other|system)\b|\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention|reveal|show)\b[^.]{0,30}\b(?:the\s+)?user\b|<\/?(?:important|system|secret|instructions?)>|\bwithout\s+(?:telling|informing|asking)\s+the\s+user\b|\byou\s+must\s+(?:always\s+)?(?:first\s+)?(?:read|send|include|pass)\b/i
