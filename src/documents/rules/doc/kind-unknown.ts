import type { LintRule } from '../../facts/rule.ts'

export const docKindUnknown: LintRule = {
  severity: 'error',
  essential: true,
  law: 'The kind is one of Agent, Tool, Policy and Bundle.',
  fix: 'Write Agent, Tool, Policy or Bundle.',
  source: 'Authoring format, "Resources and their fields"',
}
