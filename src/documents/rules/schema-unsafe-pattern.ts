import { schemaRule } from '../schema-rule.ts'
import type { Rule } from '../rule.ts'

export const schemaUnsafePattern: Rule = {
  name: 'schema/unsafe-pattern',
  severity: 'warning',
  law: 'A pattern needs no more time than its text is long.',
  fix: 'Rewrite it without a repetition inside a repetition.',
  source: 'Security, S11: patterns of documents meet texts of models',
  bad: {
    'tool.yaml':
      'kind: Tool\nspec:\n  input_schema: {inline: {type: object, properties: {memo: {type: string, pattern: "^([a-z]+)+$"}}}}\n',
  },
  good: {
    'tool.yaml':
      'kind: Tool\nspec:\n  input_schema: {inline: {type: object, properties: {memo: {type: string, pattern: "^[a-z]+$"}}}}\n',
  },
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(['pattern'], (schema, say) => {
    for (const { pointer, value: pattern } of schema.uses('pattern'))
      if (typeof pattern === 'string' && NESTED.test(pattern))
        say(pointer, 'This pattern repeats a repetition: some texts take forever.')
  }),
}

/** A repeated group that is itself one repeated atom, or has an alternative that is. */
const NESTED = /\((?:\?:)?(?:[^()]*\|)?(?:\[(?:[^\]\\]|\\.)*\]|\\.|[^()[\]\\|])[+*](?:\|[^()]*)?\)(?:[+*]|\{\d+,\})/
