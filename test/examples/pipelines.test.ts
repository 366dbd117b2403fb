/** examples/ci: what `svc init --ci` writes, and every command of it. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { npmEnvironment, packPackage } from '../packed.ts'
import { removeDirectory } from '../remove-directory.ts'

const ROOT = resolve(import.meta.dirname, '../..')

// Each pipeline installs the package and starts it a dozen times.
vi.setConfig({ testTimeout: 240_000 })
const home = mkdtempSync(join(tmpdir(), 'svc-pipeline-'))
afterAll(() => removeDirectory(home), 240_000)

const packed = packPackage()
beforeEach(({ skip }) => skip(!packed.isInstalled, 'npm reaches no registry'))

/**
 * The npm of this machine. Each job of a pipeline begins with `npm ci`, and here the jobs follow one another in one directory: the
 * first installs.
 */
const bin = join(home, 'bin')
mkdirSync(bin)
const found = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
writeFileSync(
  join(bin, 'npm'),
  `#!/bin/sh
[ "$1" = ci ] && [ -e node_modules/.clean ] && exit 0
"${found}" "$@" || exit
[ "$1" = ci ] && touch node_modules/.clean
exit 0
`,
  { mode: 0o755 },
)

const { PATH, ...npmSettings } = npmEnvironment()
const env = {
  ...npmSettings,
  PATH: `${bin}:${join(packed.prefix, 'bin')}:${PATH}`,
  HOME: home,
  CI: 'true',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@acme.example',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@acme.example',
}

const shell = (cwd: string, script: string, extra: Record<string, string> = {}): string =>
  execFileSync('bash', ['-ec', script], { cwd, env: { ...env, ...extra }, encoding: 'utf8', stdio: 'pipe' })

/** The command of the page on installing. */
const [IN_A_PROJECT] = /^npm install --save-dev .*$/m.exec(readFileSync(join(ROOT, 'docs/install.md'), 'utf8'))!

/** Installed packages go from one repository to the next: each has the same archive and the same lock. */
let earlier: string | undefined

/** A repository whose main branch holds the project with the archive of svc, as a pipeline finds it. */
function repository(name: string, args: string): string {
  const directory = join(home, name)
  shell(home, `rm -rf base && svc init ${name} ${args}`)
  copyFileSync(packed.archive, join(directory, basename(packed.archive)))
  if (earlier === undefined) shell(directory, IN_A_PROJECT)
  else for (const file of ['package-lock.json', 'node_modules']) renameSync(join(earlier, file), join(directory, file))
  earlier = directory
  shell(
    directory,
    `npx --no svc compile
     git init -qb main && git add -A && git commit -qm "First" && git update-ref refs/remotes/origin/main main`,
  )
  expect(shell(directory, 'git ls-files node_modules')).toBe('')
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

/** A dataset of one case, which needs no key. */
const SMALL_REFUND = JSON.stringify({
  input: { order: 'A-1042', amount: 40 },
  tools: {
    'acme.orders.lookup': { result: { order: 'A-1042', status: 'delivered', damaged: true } },
    'acme.refunds': { result: { order: 'A-1042', amount: 40, currency: 'EUR' } },
  },
  checks: [{ calls: 'acme.refunds' }],
})

test('the GitHub workflow is what svc init writes, and passes on what svc init wrote', () => {
  const directory = repository('github', '--full --ci github')
  const text = readFileSync(join(directory, '.github/workflows/agents.yml'), 'utf8')
  expect(readFileSync(join(ROOT, 'examples/ci/github.yml'), 'utf8')).toBe(text)
  const comment = readFileSync(join(directory, '.github/workflows/agents-comment.yml'), 'utf8')
  expect(readFileSync(join(ROOT, 'examples/ci/github-comment.yml'), 'utf8')).toBe(comment)
  const commands = stepsOf(text).flatMap(({ run }) => run ?? [])
  expect(commands.join('\n').match(/svc (?:policy |bundle )?\w+/g)).toEqual([
    'svc lint',
    'svc lint',
    'svc fmt',
    'svc compile',
    'svc policy test',
    'svc bundle pack',
    'svc bundle diff',
    'svc eval',
    'svc bundle diff',
    'svc test',
    'svc publish',
  ])
  mkdirSync(join(directory, 'evals'))
  writeFileSync(join(directory, 'evals/refunds.jsonl'), SMALL_REFUND)
  for (const command of commands) shell(directory, command, { BASE: 'main' })
  expect(readFileSync(join(directory, 'review/comment.md'), 'utf8')).toMatch(
    /^### What the agents may do$[^]*^### Evals: evals\/refunds\.jsonl$[^]*^\| origin\/main \| 1 \| 0 \|[^]*^\| workspace \| 1 \| 0 \|/m,
  )
  expect(readFileSync(join(directory, 'scenarios.xml'), 'utf8')).toContain('<testsuites')
})

test('the GitLab pipeline is what svc init writes, and passes on what svc init wrote', () => {
  const directory = repository('gitlab', '--full --ci gitlab')
  const text = readFileSync(join(directory, '.gitlab-ci.yml'), 'utf8')
  expect(readFileSync(join(ROOT, 'examples/ci/gitlab.yml'), 'utf8')).toBe(text)
  const commit = shell(directory, 'git rev-parse HEAD').trim()
  const commands = scriptsOf(text).filter((each) => !each.startsWith('node '))
  for (const command of commands) shell(directory, command, { CI_MERGE_REQUEST_DIFF_BASE_SHA: commit })
  expect(JSON.parse(readFileSync(join(directory, 'gl-code-quality-report.json'), 'utf8'))).toEqual([])
})

test('a change that widens what an agent may do stops the pipeline', () => {
  const directory = repository('wider', '--full --ci github')
  shell(directory, "sed -i 's/value: 100$/value: 250/' policies/refund-limit.yaml && npx --no svc compile")
  const diff = stepsOf(readFileSync(join(directory, '.github/workflows/agents.yml'), 'utf8')).find(({ run }) =>
    run?.includes('bundle diff'),
  )!
  expect(() => shell(directory, diff.run!, { BASE: 'main' })).toThrow(/1 widens authority/)
})

test('the workflow of the template monorepo passes, and tells what was widened as a comment', () => {
  const directory = repository('monorepo', '-t monorepo')
  const steps = stepsOf(readFileSync(join(directory, '.github/workflows/agents.yml'), 'utf8'))
  for (const { run } of steps) if (run !== undefined) shell(directory, run, { BASE: 'main', GITHUB_ACTIONS: '' })
  expect(JSON.parse(readFileSync(join(directory, 'review/lint.sarif'), 'utf8'))).toHaveProperty('runs')
  expect(readFileSync(join(directory, 'review/comment.md'), 'utf8')).toContain('No change.')
})
