import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

test('the reference page is what the document says; node scripts/http-reference.js > docs/http-reference.md writes it anew', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['scripts/http-reference.js'], { cwd: ROOT, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(readFileSync(resolve(ROOT, 'docs/http-reference.md'), 'utf8')).toBe(stdout)
})
