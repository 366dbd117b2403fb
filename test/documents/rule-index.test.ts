import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ruleIndex } from '../../src/documents/lint/rule-index.ts'
import { rules } from '../../src/documents/rules/index.ts'

const docs = join(import.meta.dirname, '../../docs')

test('the list of rules is what the rules say; npm run generate writes it', () => {
  expect(readFileSync(join(docs, 'rules.md'), 'utf8')).toBe(ruleIndex(rules))
})

test('every rule of the list leads to its examples', () => {
  const links = [...ruleIndex(rules).matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
  expect(links).toHaveLength(rules.length)
  expect(links.filter((link) => !existsSync(join(docs, link, 'output.txt')))).toEqual([])
})
