import type { LintRule } from '../../facts/rule.ts'

export const policyAllowWithoutType: LintRule = {
  severity: 'error',
  law: 'An `allow` list needs the decision type `allow`.',
  fix: 'Write `decision.type: allow`, or remove the list.',
  source: 'Authoring format, "Policy document": `allow`',
  kinds: ['Policy'],
  check(document, report) {
    const [list] = document.at('spec.allow')
    if (list === undefined) return
    const type = document.texts('spec.decision.type')[0]
    if (type === undefined || type.value === 'allow') return
    report(
      { path: list.path, pointer: list.pointer, range: list.keyRange },
      `The list \`allow\` is never read: the decision is ${type.value}.`,
      {
        fix: 'Remove it, or decide `allow`.',
        related: [{ path: type.path, range: type.range, message: 'decided here' }],
      },
    )
  },
}
