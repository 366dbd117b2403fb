import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { manPage } from './man-page.ts'
import { referencePages } from './reference.ts'

const directory = resolve(import.meta.dirname, '../../docs/reference')

test.each(referencePages)(
  'the reference page $name is what the product runs by; UPDATE_PAGES=1 writes it anew',
  (each) => {
    const file = resolve(directory, `${each.name}.md`)
    if (process.env['UPDATE_PAGES']) {
      mkdirSync(directory, { recursive: true })
      writeFileSync(file, each.make())
    }
    expect(readFileSync(file, 'utf8')).toBe(each.make())
  },
)

test('no sentence of the errors computes with the names that stand for its details', () => {
  expect(referencePages.find(({ name }) => name === 'errors')!.make()).not.toMatch(/\b(?:NaN|undefined)\b|\[object/)
})

const manFile = resolve(directory, '../man/svc.1')

test('the man page is what the product runs by; UPDATE_PAGES=1 writes it anew', () => {
  if (process.env['UPDATE_PAGES']) {
    mkdirSync(resolve(directory, '../man'), { recursive: true })
    writeFileSync(manFile, manPage())
  }
  expect(readFileSync(manFile, 'utf8')).toBe(manPage())
})

const hasGroff = spawnSync('groff', ['--version']).status === 0

test.runIf(hasGroff)('the man page is formatted without a warning', () => {
  const { stdout, stderr } = spawnSync('groff', ['-man', '-Tascii', '-ww', '-K', 'utf8', manFile], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stripVTControlCharacters(stdout)).toContain('svc - check, publish and run')
})
