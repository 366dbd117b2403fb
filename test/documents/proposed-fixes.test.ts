/** A fix that says what to write carries it as edits, and these mend what was found. Source: docs/design/lint.md#fixes */
import { expect, test } from 'vitest'
import type { Workspace } from '../../src/documents/workspace/workspace.ts'
import { applyFixes } from '../../src/documents/workspace/fix.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { rules } from '../../src/documents/rules/index.ts'
import type { Diagnostic } from '../../src/documents/text/diagnostic.ts'
import { loadExample } from './rule-folders.ts'

/** One value to write, or one member to add. */
const SAYS_WHAT = /^(?:Write ("?)[^\s"`,]+\1|Add `[^`]+`)\.$/

/** Sentences with a part that only a person knows. */
const PERSON_KNOWS = /…|\^x\.y|<|side_effect_class/

const findingsOf = (workspace: Workspace, rule: string): readonly Diagnostic[] =>
  lintWorkspace(workspace).filter((found) => found.rule === rule)

test.each(rules.map(({ name }) => name))('what %s says to write is an edit that mends it', async (rule) => {
  const workspace = await loadExample(rule, 'bad')
  const found = findingsOf(workspace, rule)
  for (const finding of found) {
    const { fix } = finding
    if (fix === undefined || !SAYS_WHAT.test(fix.description) || PERSON_KNOWS.test(fix.description)) continue
    expect([fix.description, fix.edits.length]).toEqual([fix.description, expect.toSatisfy((count) => count > 0)])
    const { unsafe: _unsafe, ...confirmed } = fix
    const fixed = applyFixes(workspace, [{ ...finding, fix: confirmed }])
    const left = findingsOf(await loadExample(rule, 'bad', Object.fromEntries(fixed)), rule)
    expect([fix.description, left.length]).toEqual([fix.description, found.length - 1])
  }
})
