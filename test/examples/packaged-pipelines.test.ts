/** integrations/: what `svc init --ci` writes as actions of GitHub and a template of GitLab, and each step of them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { COMMENT_MARK } from '../../src/cli/init/ci-files.ts'
import { runPosting, serveReviewApi } from '../cli/review-api.ts'
import { removeDirectory } from '../remove-directory.ts'
import { checkAction, commentAction, gitlabTemplate, type ActionStep } from './packaged-pipelines.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const home = mkdtempSync(join(tmpdir(), 'svc-packaged-'))
afterAll(() => removeDirectory(home))

test.each([
  ['integrations/github/check/action.yml', checkAction],
  ['integrations/github/comment/action.yml', commentAction],
  ['integrations/gitlab/template.yml', gitlabTemplate],
])('%s is what svc init writes; npm run generate writes it anew', (path, make) => {
  const file = join(ROOT, path)
  if (process.env['UPDATE_PAGES'] === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, make())
  }
  expect(readFileSync(file, 'utf8')).toBe(make())
})

const stepsOf = (action: string): readonly ActionStep[] =>
  (parse(action) as { runs: { steps: ActionStep[] } }).runs.steps

test('actions are taken by their commit, and nothing that a fork chooses is written into a script', () => {
  const steps = [...stepsOf(checkAction()), ...stepsOf(commentAction())]
  for (const { uses, run, shell } of steps) {
    expect(uses ?? '@0123456789012345678901234567890123456789').toMatch(/@[0-9a-f]{40}$/)
    expect(run ?? '').not.toContain('${{')
    expect(shell).toBe(run === undefined ? undefined : 'bash')
  }
})

test('what runs code of the project sees no secret, and what may write runs none', () => {
  expect(checkAction()).not.toMatch(/secrets\.|github\.token/)
  for (const { uses = '', run = '' } of stepsOf(commentAction())) expect(uses + run).not.toMatch(/checkout|npm|npx/)
})

/** npm installs nothing here, and npx starts the built program. */
const bin = join(home, 'bin')
mkdirSync(bin)
writeFileSync(join(bin, 'npm'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
writeFileSync(
  join(bin, 'npx'),
  `#!/bin/sh\n[ "$1 $2" = "--no svc" ] || exit 9\nshift 2\nexec '${process.execPath}' '${ROOT}/bin/svc.js' "$@"\n`,
  { mode: 0o755 },
)
const person = {
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'a@b.example',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'a@b.example',
}
const shell = (cwd: string, script: string, env: Readonly<Record<string, string>> = {}): string =>
  execFileSync('bash', ['-eo', 'pipefail', '-c', script], {
    cwd,
    env: { PATH: `${bin}:${process.env['PATH']}`, HOME: home, CI: 'true', ...person, ...env },
    encoding: 'utf8',
    stdio: 'pipe',
  })

/** A checkout of a pull request that widens what an agent may do. */
function changedProject(name: string): string {
  const directory = join(home, name, 'project')
  mkdirSync(dirname(directory))
  shell(
    dirname(directory),
    'npx --no svc init project --full && cd project && npx --no svc compile && git init -qb main && git add -A && git commit -qm First',
  )
  shell(
    directory,
    `git update-ref refs/remotes/origin/main main && git checkout -qb limit &&
     sed -i 's/value: 100$/value: 250/' policies/refund-limit.yaml policies/*.policytest.yaml && npx --no svc compile && git commit -qam Wider`,
  )
  return directory
}

/** Conditions of steps in a pull request after steps that succeeded. */
const HOLDS: Readonly<Record<string, boolean>> = {
  "github.event_name != 'pull_request'": false,
  "github.event_name == 'pull_request'": true,
  "always() && github.event_name == 'pull_request'": true,
  "inputs.policy-tests == 'true'": false,
  "inputs.scenarios == 'true'": false,
}

test('the check tells that a change widens, stops there, and leaves a text that the comment puts on the pull request of a fork', async () => {
  const directory = changedProject('github')
  const outcomes = stepsOf(checkAction()).flatMap(({ name, if: condition, run, env = {} }) => {
    const holds = condition === undefined ? true : HOLDS[condition]
    expect(holds, condition).toBeDefined()
    if (run === undefined || holds !== true) return []
    try {
      shell(directory, run, { BASE: 'main', COVERAGE: String(env['COVERAGE'] ?? '') })
      return []
    } catch (error) {
      return [`${name ?? run}: ${(error as { stderr: string }).stderr.trim().split('\n').at(-1)}`]
    }
  })
  expect(outcomes).toEqual([
    expect.stringMatching(/^What the agents may do that they could not before: .*1 widens authority/),
  ])
  const comment = readFileSync(join(directory, 'review/comment.md'), 'utf8')
  expect(comment).toContain('| **wider** | acme.refund-desk |')
  expect(JSON.parse(readFileSync(join(directory, 'review/lint.sarif'), 'utf8'))).toHaveProperty('runs')

  const { run } = stepsOf(commentAction()).find((step) => step.run !== undefined)!
  const pulls = [{ number: 7, head: { sha: 'beef' } }]
  const { sent, url } = await serveReviewApi({ '/repos/a/b/pulls': pulls, '/repos/a/b/issues/7/comments': [] })
  const fork = { HEAD: 'mallory:limit', SHA: 'beef', TOKEN: 't' }
  await runPosting(run!, { GITHUB_API_URL: url, GITHUB_REPOSITORY: 'a/b', ...fork }, comment)
  expect(sent).toEqual([
    { method: 'POST', path: '/repos/a/b/issues/7/comments', token: 'Bearer t', body: { body: comment } },
  ])
  expect(comment.startsWith(COMMENT_MARK)).toBe(true)
})

test('the jobs of the GitLab template do the same, and only the one that checks nothing out has the token', () => {
  const directory = changedProject('gitlab')
  const jobs = parseAllDocuments(gitlabTemplate())[1]!.toJSON() as Record<
    string,
    { script: string[]; variables: object; rules: object[]; stage: string }
  >
  expect(Object.keys(jobs)).toEqual(['agents-documents', 'agents-authority', 'agents-comment', 'agents-scenarios'])
  for (const [name, { variables, rules, stage }] of Object.entries(jobs)) {
    expect(variables).toEqual(name === 'agents-comment' ? { GIT_STRATEGY: 'none' } : { GIT_DEPTH: 0 })
    expect([stage, rules.length > 0]).toEqual(['$[[ inputs.stage ]]', true])
  }
  expect(JSON.stringify({ ...jobs, 'agents-comment': null })).not.toContain('REVIEW_TOKEN')
  const script = jobs['agents-authority']!.script.join('\n')
  const before = shell(directory, 'git rev-parse main').trim()
  expect(() => shell(directory, script, { CI_MERGE_REQUEST_DIFF_BASE_SHA: before })).toThrow(/1 widens authority/)
  expect(readFileSync(join(directory, 'review/comment.md'), 'utf8')).toContain('| **wider** | acme.refund-desk |')
})
