/** Named pipes that a user names: a writer is waited for, and not for ever. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readBoundedText } from '../../src/base/files/read-bounded.ts'
import { readUserFile } from '../../src/cli/files/read-file.ts'

let directory: string
let pipe: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-fifo-'))
  pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const READERS = {
  'at the start of a command': (path: string, waitMs?: number) => readBoundedText(path, waitMs),
  'that a command line names': async (path: string, waitMs?: number) =>
    (await readUserFile(path, 'pipe', undefined, waitMs)).toString(),
}

describe.runIf(process.platform !== 'win32').each(Object.entries(READERS))('a pipe %s', (_, read) => {
  test('is read to its end, however slowly its writer writes', async () => {
    const long = 'x'.repeat(100_000)
    spawn('sh', ['-c', `{ sleep 0.1; printf one; sleep 0.1; printf two; printf '%s' ${long}; } > "$0"`, pipe])
    expect(await read(pipe, 60_000)).toBe(`onetwo${long}`)
  })

  test('to which nobody writes is an error that says so', async () => {
    await expect((async () => read(pipe, 50))()).rejects.toThrow(/[Nn]obody writes to/)
  })
})

test.runIf(process.platform !== 'win32')('an empty file and an endless device are no pipes', async () => {
  expect(readBoundedText('/dev/null', 0)).toBe('')
  expect(await readUserFile('/dev/null', 'null', undefined, 0)).toEqual(Buffer.alloc(0))
  await expect(readUserFile('/dev/zero', 'zero', 1)).rejects.toThrow('zero cannot be read: it has more than 1 MiB')
})
