/** The scripts for zsh and fish, in a shell without start files. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { svc } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-shells-'))
const bin = join(home, 'bin')
afterAll(() => removeDirectory(home))

beforeAll(async () => {
  mkdirSync(bin)
  // Notes what it is asked, and answers as `svc complete` does.
  writeFileSync(
    join(bin, 'svc'),
    `#!/bin/sh\nprintf '%s|' "$@" >> "${home}/asked"; echo >> "${home}/asked"\nprintf 'acme.desk\\t1.2.0\\nacme.clerk\\tnot deployed\\n:4\\n'\n`,
  )
  chmodSync(join(bin, 'svc'), 0o755)
  for (const shell of ['zsh', 'fish'])
    writeFileSync(join(home, shell), (await svc(['completion', shell], { cwd: home })).stdout)
})

const run = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args, {
    cwd: home,
    encoding: 'utf8',
    timeout: 55_000,
    env: { PATH: `${bin}:${process.env['PATH']}`, HOME: home, TERM: 'dumb' },
  })

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0

test.skipIf(!has('fish'))('fish offers what svc answers, and runs nothing that stands on the line', () => {
  const { stdout, stderr } = run('fish', '--no-config', '-c', `source ./fish; complete -C 'svc run $(touch gotcha) '`)
  expect({ offered: stdout.trim().split('\n').toSorted(), stderr }).toEqual({
    offered: ['acme.clerk\tnot deployed', 'acme.desk\t1.2.0'],
    stderr: '',
  })
  expect(run('ls').stdout).not.toContain('gotcha')
})

test.skipIf(!has('zsh'))('zsh offers what svc answers although no start file loaded its completion system', () => {
  // A terminal of its own: the completion system works on the line editor only.
  const script = `
    zmodload zsh/zpty
    zpty shell 'zsh -f -i'
    zpty -w shell "PS1='> '; stty columns 200; source ./zsh && echo load''ed"
    zpty -r -m shell line '*loaded*' || exit 1
    zpty -w -n shell $'svc run acme.\\t\\t'
    zpty -r -m shell line '*acme.clerk*acme.desk*' || zpty -r -m shell line '*acme.desk*acme.clerk*'
    print -r -- $line
    zpty -d shell`
  const { stdout, stderr } = run('zsh', '-f', '-c', script)
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/acme\.clerk[^]*not deployed/) as unknown,
    stderr: '',
  })
})
