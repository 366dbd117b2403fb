import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ruleExamples } from '../../src/documents/generated/rule-examples.js'
import { rulePages } from '../../src/documents/lint/rule-pages.ts'
import { rules } from '../../src/documents/rules/index.ts'

const docs = join(import.meta.dirname, '../../docs')
const paths = ['rules.md', ...readdirSync(join(docs, 'rules')).map((name) => `rules/${name}`)]
const pages = Object.fromEntries(paths.map((path) => [path, readFileSync(join(docs, path), 'utf8')]))

test('the reference pages are what the rules say; node scripts/rules.js writes them', () => {
  expect(pages).toEqual(rulePages(rules, ruleExamples))
})

test.each(rules.map(({ name }) => [name]))('%s is on the page of its group, with the fix as a difference', (name) => {
  const page = pages[`rules/${name.split('/')[0]!}.md`]!
  const [, section = ''] = page.split(`\n## ${name}\n`)
  expect(section.split('\n## ')[0]).toMatch(/```diff\n--- .*\n\+\+\+ .*\n@@ /)
})
