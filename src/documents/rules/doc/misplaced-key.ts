import type { LintRule } from '../../facts/rule.ts'

export const docMisplacedKey: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A property is at the level where it belongs.',
  fix: 'Move it to the level where it belongs.',
  source: 'Authoring format, "Agent document": `output` is a sibling of `spec`, not nested in it',
}
