import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ruleExamples } from '../../src/documents/generated/rule-examples.js'
import { rulePages } from '../../src/documents/lint/rule-pages.ts'
import { rules } from '../../src/documents/rules/index.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/rules.md'), 'utf8')

test('the reference page is what the rules say; node scripts/rules.js writes it anew', () => {
  expect(page).toBe(rulePages(rules, ruleExamples))
})

test.each(rules.map(({ name }) => [name]))('%s has a page', (name) => {
  expect(page).toContain(`\n### ${name}\n`)
})
