import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { drawMatrix, matrixFeatures } from './matrix.ts'
import { vendors } from './vendors.ts'

const PAGE = resolve(import.meta.dirname, '../../docs/models.md')

/** What a vendor's API does not offer, or a server reports in no known form. */
const LACKING: Readonly<Record<string, readonly string[]>> = {
  openai: ['cache asked for'],
  'azure-openai': ['cache asked for'],
  'openai-compatible': ['strict tools', 'reasoning sent back', 'cache asked for'],
  anthropic: ['strict tools'],
  gemini: ['strict tools', 'cache asked for'],
  bedrock: ['strict tools', 'structured output', 'reasoning counted'],
}

const isHonoured = (type: string, name: string): boolean => !LACKING[type]!.includes(name)

describe.each(vendors)('$type', (vendor) => {
  test.each(matrixFeatures)('$name', async ({ name, honours }) => {
    expect(await honours(vendor)).toBe(isHonoured(vendor.type, name))
  })
})

test('the page shows what the tests found; UPDATE_PAGES=1 writes it anew', () => {
  const page = readFileSync(PAGE, 'utf8')
  const [before, after] = ['<!-- matrix -->\n', '<!-- end of matrix -->']
  const from = page.indexOf(before) + before.length
  const to = page.indexOf(after)
  const anew = `${page.slice(0, from)}\n${drawMatrix(isHonoured)}\n${page.slice(to)}`
  if (process.env['UPDATE_PAGES']) writeFileSync(PAGE, anew)
  expect(readFileSync(PAGE, 'utf8')).toBe(anew)
})
