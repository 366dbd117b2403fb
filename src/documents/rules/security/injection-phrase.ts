import { describedTexts } from '../../facts/agents/described.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securityInjectionPhrase: LintRule = {
  severity: 'warning',
  law: 'A description gives the model no orders and hides nothing from the user.',
  fix: 'Rewrite the description: say what the tool does, give no orders.',
  reason: 'The model follows descriptions as if they were instructions.',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check(document, report, { workspace }) {
    for (const described of describedTexts(workspace, document)) {
      const match = PHRASE.exec(described.text)
      if (match !== null) report(described.at, `This description gives the model orders: "${match[0]}".`)
    }
  },
}

const PHRASE =
  /\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier|other|system)\b|\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention|reveal|show)\b[^.]{0,30}\b(?:the\s+)?user\b|<\/?(?:important|system|secret|instructions?)>|\bwithout\s+(?:telling|informing|asking)\s+the\s+user\b|\byou\s+must\s+(?:always\s+)?(?:first\s+)?(?:read|send|include|pass)\b/i
