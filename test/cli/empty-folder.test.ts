/** Commands that need a project, in a folder that holds none: each says so, and leaves the folder as it was. */
import { readdirSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { svc, temporary } from './recording-io.ts'

const { path: cwd, remove } = temporary()
afterAll(remove)

const refusals = {
  'error[no_documents]: No svc document was found in HERE.\n  fix:  svc init writes a first project.\n': [
    ['dev', '--port', '0'],
    ['dev', '--ephemeral', '--port', '0'],
    ['test'],
    ['policy', 'test'],
    ['lint'],
    ['fmt', '--check'],
    ['compile'],
    ['bundle', 'tree'],
  ],
  'error[no_project]: There is no svc.config.yaml in HERE or above, and no data directory was named.\n  fix:  svc init writes a project; --data DIR names a data directory.\n':
    [
      ['publish', '--deploy'],
      ['inbox'],
      ['runs', 'list'],
      ['agents', 'list'],
      ['costs'],
      ['logs'],
      ['policy', 'explain', '@last'],
    ],
}

describe.each(Object.entries(refusals))('%s', (said, commands) => {
  test.each(commands.map((args) => ({ args })))('svc $args', async ({ args }) => {
    const { code, stdout, stderr } = await svc(args, { cwd })
    expect({ code, stdout, stderr: stderr.replaceAll(cwd, 'HERE') }).toEqual({
      code: said.includes('no_project') ? 2 : 5,
      stdout: '',
      stderr: said,
    })
    expect(readdirSync(cwd)).toEqual([])
  })
})
