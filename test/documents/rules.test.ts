import { mkdtempSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixProject } from '../../src/documents/lint/fix-project.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { reportText } from '../../src/documents/report/text.ts'
import { rules } from '../../src/documents/rules/index.ts'
import type { FileContents } from '../../src/documents/text/files.ts'
import { factsFor } from './rule-facts.ts'
import {
  loadExample,
  readExample,
  readExampleTexts,
  readOutput,
  rulesWithFolder,
  writeGolden,
  type ExampleName,
} from './rule-folders.ts'
import { removeDirectory } from '../remove-directory.ts'

/** `UPDATE_GOLDEN=1 npx vitest run test/documents/rules.test.ts` rewrites what `svc lint` prints and fixes; read the diff. */
const isUpdate = process.env.UPDATE_GOLDEN === '1'

async function lintExample(rule: string, example: ExampleName, overlay: FileContents = {}) {
  const workspace = await loadExample(rule, example, overlay)
  return { workspace, findings: lintWorkspace(workspace, factsFor(rule, workspace)) }
}

/** Texts of the files that `svc lint --fix` changes in the bad example, by their path in the golden files. */
async function fixExample(rule: string): Promise<Record<string, string>> {
  const { texts } = await fixProject((overlay) => lintExample(rule, 'bad', overlay), {})
  return Object.fromEntries(
    Object.entries(texts).map(([path, text]) => [path === 'bad.yaml' ? 'fixed.yaml' : path, text]),
  )
}

const rulesWithoutFolder = (folders: readonly string[]): string[] =>
  rules.map(({ name }) => name).filter((name) => !folders.includes(name))

describe('every rule', () => {
  test('has a folder of examples, and every folder has a rule', () => {
    const names = rules.map(({ name }) => name as string)
    expect(rulesWithoutFolder(rulesWithFolder())).toEqual([])
    expect(rulesWithFolder().filter((name) => !names.includes(name))).toEqual([])
  })

  test('that lacks its folder is noticed', () => {
    const root = mkdtempSync(join(tmpdir(), 'rules-'))
    for (const { name } of rules.slice(1)) mkdirSync(join(root, name), { recursive: true })
    expect(rulesWithoutFolder(rulesWithFolder(root))).toEqual([rules[0]!.name])
    removeDirectory(root)
  })

  test('has a name of its own', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length)
  })

  test.each(rules.map((rule) => [rule.name, rule] as const))(
    '%s has a law and a remedy, and cites what a user can read',
    (_, rule) => {
      for (const sentence of [rule.law, rule.fix, ...(rule.reason === undefined ? [] : [rule.reason])])
        expect(sentence).toMatch(/^[^a-z\s].*\.$/s)
      expect(rule.source ?? 'HTTP API').toMatch(/^(?:Authoring format|HTTP API|JSON Schema|YAML 1\.2)\b/)
    },
  )
})

describe.each(rules.map((rule) => [rule.name, rule] as const))('%s', (name, { severity }) => {
  test('finds its bad example, where no other rule finds an error', async () => {
    const { workspace, findings } = await lintExample(name, 'bad')
    const output = reportText(findings, { workspace })
    if (isUpdate) writeGolden(name, output, await fixExample(name))
    expect(findings.map((found) => `${found.rule} ${found.severity}`)).toContain(`${name} ${severity}`)
    expect(findings.filter((found) => found.severity === 'error' && found.rule !== name)).toEqual([])
    expect(output).toBe(readOutput(name))
  })

  test('is silent in its good example, which has no error', async () => {
    const { findings } = await lintExample(name, 'good')
    expect(Object.keys(readExample(name, 'good'))).not.toEqual([])
    expect(findings.filter((found) => found.rule === name || found.severity === 'error')).toEqual([])
  })

  test('fixes its bad example as its golden file shows', async () => {
    expect(await fixExample(name)).toEqual(readExampleTexts(name, 'fixed'))
  })
})
