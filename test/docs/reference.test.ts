import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
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
