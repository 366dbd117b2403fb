/** What scripts write from the schemas and the repository keeps. Pages of rules and commands have tests beside theirs. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { removeDirectory } from './remove-directory.ts'

const ROOT = resolve(import.meta.dirname, '..')

const check = (cwd: string, script: string, ...args: readonly string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [`scripts/${script}`, ...args, '--check'], {
    cwd,
    encoding: 'utf8',
  })
  return { status, stderr }
}

test.each([['openapi.js', '--types'], ['types.js'], ['python.js'], ['http-reference.js'], ['operator-reference.js']])(
  'what scripts/%s writes is up to date; npm run generate writes it anew',
  (script, ...args) => {
    expect(check(ROOT, script, ...args)).toEqual({ status: 0, stderr: '' })
  },
)

test('a changed schema is noticed', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-generated-'))
  try {
    const filter = (path: string) => !path.includes('node_modules')
    for (const folder of ['schemas', 'scripts'])
      cpSync(join(ROOT, folder), join(home, folder), { recursive: true, filter })
    for (const file of ['package.json', '.oxfmtrc.json']) copyFileSync(join(ROOT, file), join(home, file))
    for (const folder of ['', 'scripts/tools'])
      symlinkSync(join(ROOT, folder, 'node_modules'), join(home, folder, 'node_modules'))
    expect(check(home, 'types.js')).toEqual({ status: 0, stderr: '' })
    const file = join(home, 'schemas/policy.schema.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"authority_ref"', '"authority"'))
    expect(check(home, 'types.js')).toEqual({
      status: 1,
      stderr: 'schemas/documents.d.ts is out of date: npm run generate\n',
    })
  } finally {
    removeDirectory(home)
  }
})
