import { expect, test } from 'vitest'
import { createFinding, sortDiagnostics, type Diagnostic } from '../../src/documents/text/diagnostic.ts'
import { withoutFollowUps } from '../../src/documents/lint/follow-ups.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import type { LintFacts, LintProject } from '../../src/documents/facts/rule.ts'
import { rules } from '../../src/documents/rules/index.ts'
import type { Workspace } from '../../src/documents/workspace/workspace.ts'
import { whole } from './whole.ts'

/** Everything that reading and the rules say, follow-ups too. */
function everyFinding(workspace: Workspace): Diagnostic[] {
  const project = {
    workspace,
    published: { versions: () => [] },
    providers: {},
    guardrails: [],
  } as Partial<LintFacts> as LintProject & LintFacts
  const found = [...workspace.findings]
  for (const document of workspace.documents)
    for (const rule of rules)
      if (rule.needs === undefined && rule.kinds?.includes(document.kind) !== false)
        rule.check?.(
          document,
          (at, message, saying) => {
            const place = typeof at === 'string' ? document.placeOf(at) : at
            found.push(createFinding(rule.name, rule.severity, place, message, saying))
          },
          project,
        )
  return sortDiagnostics(found)
}

/** The same finding without a word of English. */
const wordless = (each: Diagnostic): Diagnostic => ({
  ...each,
  message: '',
  ...(each.fix && { fix: { ...each.fix, description: '' } }),
})

/** The whole bundle with each line left out, and with two letters of its first word exchanged. */
const broken = Object.entries(whole).flatMap(([path, text]) => {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const withLine = (...instead: string[]): Record<string, string> => ({
      ...whole,
      [path]: lines.toSpliced(at, 1, ...instead).join('\n'),
    })
    const words = (line.match(/[a-z_]{4,}/g) ?? []).slice(0, 1)
    const slips = words.map((word) => withLine(line.replace(word, word.slice(0, -2) + word.at(-1) + word.at(-2))))
    return [withLine(), ...slips]
  })
})

test('what follows from another finding is reported by data, whatever the messages say', () => {
  let leftOut = 0
  for (const files of broken) {
    const workspace = loadFiles(files)
    const all = everyFinding(workspace)
    const kept = withoutFollowUps(workspace, all)
    leftOut += all.length - kept.length
    expect(withoutFollowUps(workspace, all.map(wordless))).toEqual(kept.map(wordless))
  }
  expect(leftOut).toBeGreaterThan(100)
})
