import { schemaRule } from '../../facts/schema-rule.ts'
import { SCHEMA_KEYWORDS } from '../../schemas/schema-keywords.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { nearestCandidate } from '../../text/suggest.ts'
import { MERGE_KEY } from '../../text/merge-keys.ts'
import type { LintRule } from '../../facts/rule.ts'
import { DISPUTED_KEYWORDS } from './unsupported-keyword.ts'
import { ownMember } from '../../../base/json/own-member.ts'

export const schemaUnknownKeyword: LintRule = {
  severity: 'error',
  law: 'A schema has only keywords of JSON Schema.',
  fix: 'Correct the name of the keyword, remove it, or begin it with `x-`.',
  reason: 'Validators ignore a keyword that they do not know: what it was to refuse is accepted.',
  source: 'JSON Schema 2020-12, section 6.5: unknown keywords are annotations',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule('all', (schema, report) => {
    for (const [keyword, { pointer, holder }] of schema.unknownUses()) {
      // Reading the text reports merge keys.
      if (keyword.startsWith('x-') || keyword === MERGE_KEY || DISPUTED_KEYWORDS.includes(keyword)) continue
      const meant = meantKeyword(keyword)
      if (meant === undefined) {
        // It may be meant for another reader of the schema, such as an editor.
        const message = `Validators ignore \`${keyword}\`, which is no keyword of JSON Schema.`
        report(pointer, message, { severity: 'warning' }, true)
        continue
      }
      const isFree = !Object.hasOwn(holder, meant)
      const fix = isFree
        ? replaceScalarFix(schema.keyPlaceOf(pointer), meant)
        : `Remove it: \`${meant}\` stands beside it.`
      report(pointer, `\`${keyword}\` is no keyword of JSON Schema. Did you mean \`${meant}\`?`, { meant, fix }, true)
    }
  }),
}

/** Words for a keyword that are too far from it to be typing errors. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  additionalItems: 'items',
  attributes: 'properties',
  choices: 'enum',
  divisibleBy: 'multipleOf',
  fields: 'properties',
  mandatory: 'required',
  max: 'maximum',
  max_length: 'maxLength',
  min: 'minimum',
  options: 'enum',
  property: 'properties',
  props: 'properties',
  regex: 'pattern',
  values: 'enum',
}

const meantKeyword = (word: string): string | undefined =>
  ownMember(OTHER_WORDS, word) ?? nearestCandidate(word, SCHEMA_KEYWORDS)
