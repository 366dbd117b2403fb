/** Neovim and Emacs, set up as the page on editors says, show what svc finds in a document. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeProject, type Project } from '../e2e/binary.ts'

const BIN = resolve(import.meta.dirname, '../../bin/svc.js')
const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/editors.md'), 'utf8')

/** The lines that a person copies from the page. */
const copied = (language: string): string => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(PAGE)![1]!

let project: Project
beforeAll(() => {
  project = writeProject({
    'svc.config.yaml': 'workspace: desk\n',
    'limit.yaml': `apiVersion: svc/v1
kind: Policy
metadata: { name: limit, namespace: acme, version: 1.0.0 }
spec:
  description: Large payments need a person.
  decision: { type: ask }
`,
  })
  const bin = join(project.directory, '.bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, { mode: 0o755 })
})
afterAll(() => project.remove())

/** What the editor prints, with `svc` on its path. */
function edit(editor: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(editor, args, {
    cwd: project.directory,
    env: { PATH: `${join(project.directory, '.bin')}:${process.env['PATH']}`, HOME: project.directory, TERM: 'dumb' },
    encoding: 'utf8',
    timeout: 120_000,
  })
  return `${stdout}${stderr}`
}

const works = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0
const FINDING =
  'spec.decision.type must be one of `allow`, `deny`, `require_approval`, `escalate`, `block`, but is "ask".'

test.skipIf(!works('nvim', '--version'))('Neovim shows a finding', () => {
  const setup = join(project.directory, 'init.lua')
  writeFileSync(setup, copied('lua'))
  const look = [
    'vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end)',
    'for _, each in ipairs(vim.diagnostic.get(0)) do print(each.lnum + 1 .. ": " .. each.message) end',
  ]
  const commands = look.flatMap((line) => ['-c', `lua ${line}`])
  expect(edit('nvim', ['--headless', '-u', setup, 'limit.yaml', ...commands, '-c', 'qa!'])).toContain(`6: ${FINDING}`)
})

const PACKAGES = "(package-initialize) (require 'yaml-mode) (require 'eglot)"

test.skipIf(!works('emacs', '--batch', '--eval', `(progn ${PACKAGES})`))('Emacs shows a finding', () => {
  const program = join(project.directory, 'look.el')
  writeFileSync(
    program,
    `${PACKAGES}
${copied('elisp')}
(setq eglot-sync-connect 60)
(find-file "limit.yaml") (yaml-mode)
(call-interactively #'eglot)
(let ((looks 0))
  (while (and (< looks 300) (not (flymake-diagnostics)))
    (accept-process-output nil 0.2) (flymake-start) (setq looks (1+ looks))))
(dolist (each (flymake-diagnostics))
  (princ (format "%d: %s\\n" (line-number-at-pos (flymake-diagnostic-beg each)) (flymake-diagnostic-text each))))
`,
  )
  expect(edit('emacs', ['--batch', '-l', program])).toContain(`6: svc [doc/schema]: ${FINDING}`)
})
