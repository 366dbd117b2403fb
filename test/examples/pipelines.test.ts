/** examples/ci: what `svc init --ci` writes, and every command of it. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { packPackage } from '../packed.ts'

const ROOT = resolve(import.meta.dirname, '../..')

// Each pipeline is a dozen starts of the program.
vi.setConfig({ testTimeout: 120_000 })
const home = mkdtempSync(join(tmpdir(), 'svc-pipeline-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

// The package is installed already, from the archive: `npm` does nothing, `npx --no svc` is its program.
const bin = join(home, 'bin')
mkdirSync(bin)
for (const [name, text] of [
  ['npm', 'exit 0'],
  ['npx', `[ "$1 $2" = "--no svc" ] || exit 9; shift 2; exec "${process.execPath}" "${packPackage().program}" "$@"`],
]) {
  writeFileSync(join(bin, name!), `#!/bin/sh\n${text}\n`)
  chmodSync(join(bin, name!), 0o755)
}

const env = {
  PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`,
  HOME: home,
  CI: 'true',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@acme.example',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@acme.example',
}

const shell = (cwd: string, script: string, extra: Record<string, string> = {}): string =>
  execFileSync('bash', ['-ec', script], { cwd, env: { ...env, ...extra }, encoding: 'utf8', stdio: 'pipe' })

/** A repository whose main branch holds the project, as a pipeline finds it. */
function repository(name: string, args: string): string {
  shell(home, `npx --no svc init ${name} ${args} && npx --no svc compile -C ${name}`)
  const directory = join(home, name)
  shell(
    directory,
    'git init -qb main && git add -A && git commit -qm "First" && git update-ref refs/remotes/origin/main main',
  )
  return directory
}

interface Step {
  readonly run?: string
  readonly if?: string
}

const stepsOf = (text: string): Step[] =>
  Object.values((parse(text) as { jobs: Record<string, { steps: Step[] }> }).jobs).flatMap(({ steps }) => steps)

const scriptsOf = (text: string): string[] =>
  Object.values(parse(text) as Record<string, { script?: string[] }>).flatMap((job) => job?.script ?? [])

test('the GitHub workflow is what svc init writes, and passes on what svc init wrote', () => {
  const directory = repository('github', '--ci github')
  const text = readFileSync(join(directory, '.github/workflows/agents.yml'), 'utf8')
  expect(readFileSync(join(ROOT, 'examples/ci/github.yml'), 'utf8')).toBe(text)
  const commands = stepsOf(text).flatMap(({ run }) => run ?? [])
  expect(commands.join('\n').match(/svc (?:policy |bundle )?\w+/g)).toEqual([
    'svc lint',
    'svc lint',
    'svc fmt',
    'svc compile',
    'svc policy test',
    'svc bundle pack',
    'svc bundle diff',
    'svc test',
    'svc publish',
  ])
  for (const command of commands) shell(directory, command, { BASE: 'main' })
  expect(readFileSync(join(directory, 'scenarios.xml'), 'utf8')).toContain('<testsuites')
})

test('the GitLab pipeline is what svc init writes, and passes on what svc init wrote', () => {
  const directory = repository('gitlab', '--ci gitlab')
  const text = readFileSync(join(directory, '.gitlab-ci.yml'), 'utf8')
  expect(readFileSync(join(ROOT, 'examples/ci/gitlab.yml'), 'utf8')).toBe(text)
  const commit = shell(directory, 'git rev-parse HEAD').trim()
  // In its own directory: both pipelines check the base out beside the project.
  shell(home, 'rm -rf base')
  for (const command of scriptsOf(text)) shell(directory, command, { CI_MERGE_REQUEST_DIFF_BASE_SHA: commit })
  expect(JSON.parse(readFileSync(join(directory, 'gl-code-quality-report.json'), 'utf8'))).toEqual([])
})

test('a change that widens what an agent may do stops the pipeline', () => {
  const directory = repository('wider', '--ci github')
  shell(home, 'rm -rf base')
  shell(directory, "sed -i 's/value: 100$/value: 250/' policies/refund-limit.yaml && npx --no svc compile")
  const diff = stepsOf(readFileSync(join(directory, '.github/workflows/agents.yml'), 'utf8')).find(({ run }) =>
    run?.includes('bundle diff'),
  )!
  expect(() => shell(directory, diff.run!, { BASE: 'main' })).toThrow(/1 widens authority/)
})

test('the workflow of the template monorepo passes, and tells what was widened as a comment', () => {
  const directory = repository('monorepo', '-t monorepo')
  shell(home, 'rm -rf base')
  const steps = stepsOf(readFileSync(join(directory, '.github/workflows/agents.yml'), 'utf8'))
  for (const { run } of steps)
    if (run !== undefined && !run.startsWith('gh ')) shell(directory, run, { BASE: 'main', GITHUB_ACTIONS: '' })
  expect(JSON.parse(readFileSync(join(directory, 'lint.sarif'), 'utf8'))).toHaveProperty('runs')
  expect(readFileSync(join(directory, 'authority.txt'), 'utf8')).toBe('')
})
