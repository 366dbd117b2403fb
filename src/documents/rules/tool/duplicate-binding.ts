import { textMember, toolsOf } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolDuplicateBinding: LintRule = {
  severity: 'error',
  law: 'A tool that is bound twice has a different name in each binding.',
  fix: 'Remove one, or give them names with `as`.',
  source: 'Authoring format, "Tool binding": `as`',
  kinds: ['Agent'],
  check(document, report) {
    const first = new Map<string, string>()
    for (const { ref, value, pointer } of toolsOf(document)) {
      if (ref === undefined) continue
      const key = `${ref.id} ${textMember(value, 'as') ?? ''}`
      const before = first.get(key)
      if (before === undefined) first.set(key, pointer)
      else
        report(`${pointer}/ref`, `${ref.id} is bound more than once.`, {
          fix: 'Give one of them a name of its own with `as`, or remove it.',
          related: [{ path: document.path, range: document.placeOf(`${before}/ref`).range, message: 'first here' }],
        })
    }
  },
}
