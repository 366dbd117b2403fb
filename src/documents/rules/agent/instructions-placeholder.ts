import { instructionsOf } from '../../facts/agents/instructions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const agentInstructionsPlaceholder: LintRule = {
  severity: 'warning',
  law: 'Instructions contain no placeholders: nothing is filled in at run time.',
  fix: 'Write the value in place of the placeholder, or remove it.',
  source: 'Authoring format, "Agent document": `instructions` is the system prompt',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const instructions = instructionsOf(workspace, document)
    if (instructions === undefined || instructions.text.search(PLACEHOLDER) < 0) return
    for (const match of withoutCode(instructions.text).matchAll(PLACEHOLDER)) {
      if (SPOKEN_OF.test(instructions.text.slice(Math.max(0, match.index - 40), match.index))) continue
      const place = instructions.placeOf(match.index, match[0].length)
      report(place, `"${match[0]}" was never filled in.`, { why: 'The model reads it literally.' })
    }
  },
}

/** Replaces code fences and code spans, which quote placeholders, with blanks of the same length, so that offsets stay valid. */
const withoutCode = (text: string): string =>
  text
    .replaceAll(/^[ \t]*(`{3,16}(?!`)|~{3,16}(?!~))[^\n]*\n(?:[^]*?^[ \t]*\1[ \t]*$|[^]*)/gm, blank)
    .replaceAll(/(?<!`)(`{1,16})(?!`)[^`](?:[^]{0,200}?[^`])??\1(?!`)/g, blank)

const blank = (code: string): string => code.replaceAll(/[^\n]/g, ' ')

/** Words before a placeholder that the sentence only mentions. */
const SPOKEN_OF =
  /(?:\b(?:such as|like|e\.g\.|for example|written as|marked(?: with| as)?|called|literally|placeholders?|templates?|variables?|markers?|tags?)) *["'(]?$/i

/** Template braces, notes such as TODO, and names in angle brackets that are not tags. */
const PLACEHOLDER =
  /\{\{[^{}\n]{1,80}\}\}|\b(?:TODO|FIXME|TBD|XXX):|(?<=[:=] ?)(?:TODO|FIXME|TBD|XXX)\b|<(?:your|insert|fill|company|name|todo)[ _-]?[a-z _-]{0,40}>|\[(?:insert|your|fill in)\b[^\]\n]{0,60}\]/gi
