/** The script that bash sources, in a bash that has nothing else: no `bash-completion`, no start files. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bashCompletion } from '../../src/cli/shell/completion-bash.ts'
import { removeDirectory } from '../remove-directory.ts'

const cwd = mkdtempSync(join(tmpdir(), 'svc-bash-'))
writeFileSync(join(cwd, 'completion.bash'), bashCompletion)
writeFileSync(join(cwd, 'a file.yaml'), '')
mkdirSync(join(cwd, 'agents'))
afterAll(() => removeDirectory(cwd))

const hasBash = spawnSync('bash', ['--version']).status === 0

interface Completed {
  /** What `svc complete` was given. */
  readonly asked: readonly string[]
  readonly offered: readonly string[]
  readonly stderr: string
}

/**
 * @param words as bash parts the line; the cursor is at the end
 * @param answer what `svc complete` prints
 */
function complete(line: string, words: readonly string[], answer: string): Completed {
  const script = `
    set -u
    source ./completion.bash
    source ./completion.bash
    svc() { printf 'asked %s\\n' "$@" >&2; printf '%s' "$ANSWER"; }
    exec 3>&2
    COMP_LINE="$LINE"; COMP_POINT=\${#LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    eval "$(declare -f __svc_complete | sed 's:2> */dev/null:2>\\&3:')"
    __svc_complete
    \${COMPREPLY+:} false && printf '%s\\n' "\${COMPREPLY[@]}"
    exit 0`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '--noprofile', '-c', script, 'bash', ...words], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LINE: line, ANSWER: answer },
  })
  const lines = stderr.split('\n').filter(Boolean)
  const isAsked = (each: string): boolean => each.startsWith('asked ')
  return {
    asked: lines.filter(isAsked).map((each) => each.slice('asked '.length)),
    offered: stdout.split('\n').filter(Boolean),
    stderr: lines.filter((each) => !isAsked(each) && !each.includes('compopt')).join('\n'),
  }
}

describe.skipIf(!hasBash)('completion in bash', () => {
  test('offers what svc answers, without the descriptions', () => {
    expect(complete('svc run ', ['svc', 'run', ''], 'acme.desk\t1.2.0\nacme.clerk\tnot deployed\n:4\n')).toEqual({
      asked: ['complete', '--', 'run', ''],
      offered: ['acme.desk', 'acme.clerk'],
      stderr: '',
    })
  })

  test('takes as one word what bash parts at : = and @, and offers what follows', () => {
    expect(complete('svc run acme.desk@1', ['svc', 'run', 'acme.desk', '@', '1'], 'acme.desk@1.2.0\n:4\n')).toEqual({
      asked: ['complete', '--', 'run', 'acme.desk@1'],
      offered: ['1.2.0'],
      stderr: '',
    })
    expect(complete('svc runs get @la', ['svc', 'runs', 'get', '@', 'la'], '@last\n:4\n')).toEqual({
      asked: ['complete', '--', 'runs', 'get', '@la'],
      offered: ['last'],
      stderr: '',
    })
  })

  test('offers files where svc says so, also with a space in the name', () => {
    expect(complete('svc lint a', ['svc', 'lint', 'a'], ':0\n').offered.toSorted()).toEqual(['a file.yaml', 'agents'])
    expect(complete('svc run a', ['svc', 'run', 'a'], ':4\n').offered).toEqual([])
  })

  test('runs nothing that stands on the line', () => {
    const typed = '$(touch gotcha)'
    expect(complete(`svc run ${typed}`, ['svc', 'run', typed], ':4\n').asked).toEqual(['complete', '--', 'run', typed])
    expect(spawnSync('ls', [cwd], { encoding: 'utf8' }).stdout).not.toContain('gotcha')
  })

  test('is read twice without a word', () => {
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['--norc', '--noprofile', '-ec', 'set -u; . ./completion.bash; . ./completion.bash; complete -p svc'],
      { cwd, encoding: 'utf8' },
    )
    expect([status, stdout, stderr]).toEqual([0, 'complete -F __svc_complete svc\n', ''])
  })
})
