import { existsSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fileFailure } from '../../src/base/files/file-error.ts'
import { makeDirectory } from '../../src/base/files/make-directory.ts'
import { removeDirectory } from '../remove-directory.ts'

const parent = mkdtempSync(join(tmpdir(), 'svc-make-'))
afterAll(() => removeDirectory(parent))

test('makes each directory that is missing, with the mode, and takes one that is there', () => {
  const path = join(parent, 'a', 'b', 'c')
  makeDirectory(path, 0o700)
  makeDirectory(path, 0o700)
  expect([path, join(parent, 'a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700])
})

test.skipIf(!existsSync('/proc/self'))('gives up at once where no directory can be made', () => {
  expect(() => makeDirectory('/proc/nowhere/data')).toThrow('ENOENT')
})

test('refuses a file, what lies below one, and a circle of links', () => {
  writeFileSync(join(parent, 'file'), '')
  symlinkSync('loop', join(parent, 'loop'))
  const refusals = ['file', 'file/data', 'loop', 'loop/data'].map((name) => {
    try {
      makeDirectory(join(parent, name))
      return 'made'
    } catch (error) {
      return fileFailure(error)?.message.replace(parent, '…')
    }
  })
  expect(refusals).toEqual([
    '…/file cannot be made: something else has this name.',
    '…/file/data cannot be made: a part of the path is a file, not a directory.',
    '…/loop cannot be made: something else has this name.',
    '…/loop/data cannot be made: its symbolic links lead in a circle.',
  ])
})
