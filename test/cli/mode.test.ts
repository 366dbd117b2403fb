import { describe, expect, test } from 'vitest'
import { modeOf, type GlobalOptions } from '../../src/cli/shell/mode.ts'
import { createWorld } from './recording-io.ts'

const modeIn = (options: GlobalOptions, env: Record<string, string>, tty: boolean, unattended = false) => {
  const { io } = createWorld({ cwd: '/', tty })
  return modeOf(options, { ...io, env, unattended })
}

describe('colour: flag > FORCE_COLOR > NO_COLOR > CLICOLOR > terminal', () => {
  test.each<[string, GlobalOptions, Record<string, string>, boolean, 0 | 1 | 2 | 3]>([
    ['a pipe has none', {}, { TERM: 'xterm' }, false, 0],
    ['a terminal has what TERM says', {}, { TERM: 'xterm-256color' }, true, 2],
    ['true colour where the terminal says so', {}, { TERM: 'xterm', COLORTERM: 'truecolor' }, true, 3],
    ['a dumb terminal has none', {}, { TERM: 'dumb' }, true, 0],
    ['NO_COLOR takes it away', {}, { TERM: 'xterm', NO_COLOR: '1' }, true, 0],
    ['an empty NO_COLOR says nothing', {}, { TERM: 'xterm', NO_COLOR: '' }, true, 1],
    ['FORCE_COLOR is stronger than NO_COLOR', {}, { TERM: 'xterm', NO_COLOR: '1', FORCE_COLOR: '1' }, false, 1],
    ['FORCE_COLOR=0 forbids it', {}, { TERM: 'xterm', FORCE_COLOR: '0' }, true, 0],
    ['CLICOLOR_FORCE gives it to a pipe', {}, { TERM: 'xterm', CLICOLOR_FORCE: '1' }, false, 1],
    ['CLICOLOR=0 takes it away', {}, { TERM: 'xterm', CLICOLOR: '0' }, true, 0],
    ['--color always is stronger than NO_COLOR', { color: 'always' }, { TERM: 'xterm', NO_COLOR: '1' }, false, 1],
    ['--no-color is stronger than FORCE_COLOR', { color: false }, { TERM: 'xterm', FORCE_COLOR: '1' }, true, 0],
  ])('%s', (_, options, env, tty, level) => {
    expect(modeIn(options, env, tty).color.stdout).toBe(level)
  })
})

describe('a person is asked only where one can answer', () => {
  test.each<[string, GlobalOptions, Record<string, string>, boolean, boolean, boolean]>([
    ['on a terminal', {}, {}, true, false, true],
    ['not in a pipe', {}, {}, false, false, false],
    ['not with --no-input', { input: false }, {}, true, false, false],
    ['not with SVC_NO_INPUT', {}, { SVC_NO_INPUT: '1' }, true, false, false],
    ['not in CI', {}, { CI: 'true' }, true, false, false],
    ['not under a coding agent', {}, {}, true, true, false],
    ['not on a dumb terminal', {}, { TERM: 'dumb' }, true, false, false],
  ])('%s', (_, options, env, tty, unattended, expected) => {
    expect(modeIn(options, env, tty, unattended).interactive).toBe(expected)
  })
})

test.each<[GlobalOptions, boolean]>([
  [{}, false],
  [{ json: true }, true],
  [{ jq: '.' }, true],
  [{ fields: 'a, b' }, true],
])('%j is machine output: %s', (options, json) => {
  expect(modeIn(options, {}, false).json).toBe(json)
})
