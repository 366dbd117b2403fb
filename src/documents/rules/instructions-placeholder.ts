import { instructionsOf } from '../instructions.ts'
import type { Rule } from '../rule.ts'

export const instructionsPlaceholder: Rule = {
  name: 'agent/instructions-placeholder',
  severity: 'warning',
  law: 'Instructions are complete: nothing is filled in at run time.',
  fix: 'Fill it in, or remove it.',
  source: 'Authoring format, "Agent document": `instructions` is the system prompt',
  bad: { 'agent.yaml': 'kind: Agent\nspec:\n  instructions: {text: "Answer for {{company}}."}\n' },
  good: { 'agent.yaml': 'kind: Agent\nspec:\n  instructions: {text: Answer for Acme.}\n' },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const instructions = instructionsOf(workspace, document)
    if (instructions === undefined || instructions.text.search(PLACEHOLDER) < 0) return
    for (const match of instructions.text.matchAll(PLACEHOLDER)) {
      const place = instructions.placeOf(match.index, match[0].length)
      report(place, `"${match[0]}" was never filled in.`, { why: 'The model reads it as it stands.' })
    }
  },
}

/** Templates' braces, notes to oneself, and names in angle brackets that are no tags. */
const PLACEHOLDER =
  /\{\{[^{}\n]{1,80}\}\}|\b(?:TODO|FIXME|TBD|XXX)\b|<(?:your|insert|fill|company|name|todo)[ _-]?[a-z _-]{0,40}>|\[(?:insert|your|fill in)\b[^\]\n]{0,60}\]/gi
