import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { svc, temporary } from './recording-io.ts'

const { path: home, remove } = temporary()
afterAll(remove)

const AGENT = `apiVersion: svc/v1
kind: Agent
metadata: {name: desk, namespace: acme, version: "1.0.0", owner: team}
spec:
  purpose: Answers questions.
  instructions: {text: Help.}
  model: {provider: scripted, name: s}
  tools: [{ref: pay.lookup@^1, policies: [pay.limit]}]
  limits: {max_loop_iterations: 5}
`
const TOOL = `apiVersion: svc/v1
kind: Tool
metadata: {name: lookup, namespace: pay, version: "1.0.0"}
spec:
  description: Pays back.
  side_effect_class: read_only
  input_schema: {inline: {type: object, required: [amount], properties: {amount: {type: integer}}}}
`
const POLICY = `# what is large
apiVersion: svc/v1
kind: Policy
metadata: {name: limit, namespace: pay, version: v1}
spec:
  conditions: {field: amount, op: gt, value: 500} # cents
  decision: {type: block}
`
const FIXED = POLICY.replace('version: v1', 'version: "1.0.0"')
  .replace('field: amount', 'field: args.amount')
  .replace('type: block', 'type: deny')

let cwd = ''
let count = 0
beforeEach(() => {
  cwd = join(home, `project-${++count}`)
  for (const directory of ['agents', 'tools', 'policies']) mkdirSync(join(cwd, directory), { recursive: true })
  writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: test\n')
  writeFileSync(join(cwd, 'agents/desk.yaml'), AGENT)
  writeFileSync(join(cwd, 'tools/lookup.yaml'), TOOL)
  writeFileSync(join(cwd, 'policies/limit.yaml'), POLICY)
})

const read = (path: string): string => readFileSync(join(cwd, path), 'utf8')
const rulesOf = (stdout: string): string[] =>
  (JSON.parse(stdout) as { diagnostics: { path: string; rule: string }[] }).diagnostics.map(
    ({ path, rule }) => `${path} ${rule}`,
  )

test.each([
  [
    'that is not there, with its neighbour',
    'agents/desk.yml',
    'agents/desk.yml: there is no such file.',
    'Did you mean desk.yaml?',
  ],
  [
    'that is no file',
    'pipe.yaml',
    'pipe.yaml: it is not a regular file; `-` is standard input.',
    'Without a path all documents of the project are read.',
  ],
  [
    'that is a link',
    'link.yaml',
    'link.yaml: it is a symbolic link, and none is followed.',
    'Without a path all documents of the project are read.',
  ],
])('a path %s is told beside paths with documents', async (_, path, what, remedy) => {
  execFileSync('mkfifo', [join(cwd, 'pipe.yaml')])
  symlinkSync('tools/lookup.yaml', join(cwd, 'link.yaml'))
  for (const command of ['lint', 'fmt'])
    expect(await svc([command, 'tools/lookup.yaml', path], { cwd })).toMatchObject({
      code: 5,
      stderr: `error[no_documents]: No svc document was found in ${what}\n  fix:  ${remedy}\n`,
    })
})

describe('a glob that no shell has expanded', () => {
  const GLOBS = ['policies/*.yaml', './policies/*', '**/lim?t.yaml', '{prompts,policies}/*.yaml', 'polic*']
  test.each(GLOBS)('%s finds what it matches', async (glob) => {
    const { stdout } = await svc(['lint', glob, '--json', '--rule', 'policy/block-alias=off'], { cwd })
    expect(rulesOf(stdout)).toEqual([
      'policies/limit.yaml id/invalid-semver',
      'policies/limit.yaml policy/condition-field',
    ])
    const { stdout: listed } = await svc(['fmt', glob, '--check'], { cwd })
    expect(listed).toBe('policies/limit.yaml\n')
  })

  test('passes over files of others, as a directory does, and finds files from outside of the project', async () => {
    writeFileSync(join(cwd, 'tools/package.json'), '{"name": "x"}')
    const argv = ['lint', `${cwd}/tools/*`, `${cwd}/too?s/**/*.json`, '--json']
    expect(JSON.parse((await svc(argv, { cwd: home })).stdout)).toMatchObject({ ok: true, files: 1 })
  })

  test('is the name of a file where there is one', async () => {
    writeFileSync(join(cwd, 'tools/{a}*.yaml'), 'name: refund\n')
    expect(rulesOf((await svc(['lint', 'tools/{a}*.yaml', '--json'], { cwd })).stdout)).toEqual([
      'tools/{a}*.yaml doc/kind-unknown',
    ])
  })

  test('that matches nothing is reported beside paths with documents', async () => {
    for (const glob of ['agents/*.yml', 'nowhere/*.yaml'])
      for (const command of ['lint', 'fmt'])
        expect(await svc([command, 'tools/lookup.yaml', glob], { cwd })).toMatchObject({
          code: 5,
          stderr: `error[no_documents]: No svc document was found in ${glob}: no file matches.\n  fix:  Without a path all documents of the project are read.\n`,
        })
  })
})

test('files of other commands are passed over where a shell has named them', async () => {
  const others = ['policies/limit.policytest.yaml', 'policies/small.scenario.yaml', 'svc.config.yaml']
  writeFileSync(join(cwd, others[0]!), 'agent: acme.desk\ncalls: []\n')
  writeFileSync(join(cwd, others[1]!), 'scenario: small\n')
  const { stdout } = await svc(['lint', 'tools/lookup.yaml', ...others, '--json'], { cwd })
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, files: 1, diagnostics: [] })
  expect(await svc(['fmt', '--check', ...others], { cwd })).toMatchObject({ code: 5, stdout: '' })
})

test('all findings come in one run, by file and line, and an error is exit 1', async () => {
  const { code, stdout } = await svc(['lint', '--json'], { cwd })
  expect(code).toBe(1)
  expect(rulesOf(stdout)).toEqual([
    'policies/limit.yaml id/invalid-semver',
    'policies/limit.yaml policy/condition-field',
    'policies/limit.yaml policy/block-alias',
  ])
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, files: 3, errors: 1, warnings: 0, fixable: 3 })
})

describe('--fix', () => {
  test('applies safe fixes, keeps comments, and lints the result', async () => {
    const { code, stdout, stderr } = await svc(['lint', '--fix'], { cwd })
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^3 fixed; 0 errors, 0 warnings in 3 files \(\d+ ms\)\n$/)
    expect(read('policies/limit.yaml')).toBe(FIXED)
    expect(read('agents/desk.yaml')).toBe(AGENT)
  })

  test('touches named files only', async () => {
    await svc(['lint', 'tools', '--fix'], { cwd })
    expect(read('policies/limit.yaml')).toBe(POLICY)
  })

  test('as a dry run shows the difference and writes nothing', async () => {
    const { stdout } = await svc(['lint', '--fix-dry-run'], { cwd })
    expect(stdout).toContain('\n+  decision: {type: deny}\n')
    expect(read('policies/limit.yaml')).toBe(POLICY)
  })

  test('of standard input answers the document', async () => {
    const argv = ['lint', '-', '--stdin-filename', 'policies/limit.yaml', '--fix']
    expect(await svc(argv, { cwd, stdin: POLICY })).toMatchObject({ code: 0, stdout: FIXED })
    expect(read('policies/limit.yaml')).toBe(POLICY)
  })

  test('of standard input without a name is of the document that it is about', async () => {
    const told = await svc(['lint', '-', '--fix'], { cwd, stdin: POLICY.replace('# cents', '# typed') })
    expect(told).toMatchObject({ code: 0, stdout: FIXED.replace('# cents', '# typed') })
    const other = await svc(['lint', '-', '--format', 'compact'], { cwd, stdin: 'kind: Tool\nspec: {}\n' })
    expect(other.stdout).toContain('stdin.yaml:1:1')
  })

  test('removes what is unused, but never a comment with it', async () => {
    const head = AGENT.replace('scripted, name: s', 'anthropic, name: m, secret: k')
    writeFileSync(join(cwd, 'policies/limit.yaml'), FIXED)
    writeFileSync(
      join(cwd, 'agents/desk.yaml'),
      `${head}secrets:
  k: {fromEnv: K}
  # svc-lint-disable-next-line secret/env-name -- never needed
  l: {fromEnv: L} # until March
`,
    )
    const { stdout } = await svc(['lint', '--fix', '--json'], { cwd })
    expect(rulesOf(stdout)).toEqual(['agents/desk.yaml limits/missing-tokens'])
    expect(read('agents/desk.yaml')).toBe(`${head}secrets:
  k: {fromEnv: K}
  # until March
`)
  })
})

describe('without a project file', () => {
  beforeEach(() => {
    rmSync(join(cwd, 'svc.config.yaml'))
    writeFileSync(
      join(cwd, 'bundle.yaml'),
      'apiVersion: svc/v1\nkind: Bundle\nmetadata: {name: all, namespace: acme, version: "1.0.0"}\nspec: {root: agents/desk.yaml}\n',
    )
  })

  test('paths are named from where the command was started', async () => {
    const { stdout } = await svc(['lint', 'policies', '--format', 'compact'], { cwd })
    expect(stdout.split('\n')[0]).toMatch(/^policies\/limit\.yaml:4:/)
  })

  test('a file is judged with the documents around it', async () => {
    writeFileSync(join(cwd, 'policies/limit.yaml'), FIXED)
    expect(await svc(['lint', 'agents/desk.yaml', 'tools/lookup.yaml', '--max-warnings', '0'], { cwd })).toMatchObject({
      code: 0,
    })
  })

  test('so are those of a directory further down', async () => {
    const { stdout } = await svc(['lint', cwd, '--format', 'compact'], { cwd: home })
    expect(stdout).toMatch(new RegExp(`^project-${count}/policies/limit\\.yaml:4:`))
  })

  test('svc fmt names files likewise', async () => {
    const { stdout } = await svc(['fmt', 'policies', '--check'], { cwd })
    expect(stdout).toBe('policies/limit.yaml\n')
  })
})

describe('--changed', () => {
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd, stdio: 'ignore' })
  }

  test('reports changed and new files, and the documents that lead to them', async () => {
    git('init', '-b', 'main')
    git('add', '-A')
    git('commit', '-m', 'first')
    expect(await svc(['lint', '--changed'], { cwd })).toMatchObject({ code: 0, stdout: '' })
    writeFileSync(join(cwd, 'policies/limit.yaml'), `${POLICY}\n`)
    const { code, stdout, stderr } = await svc(['lint', '--changed', 'main', '--format', 'compact'], { cwd })
    expect(code).toBe(1)
    expect(stdout).toContain('policies/limit.yaml:4:')
    expect(stderr).toContain('2 of 3 files affected by 1 changed file\n')
    writeFileSync(join(cwd, 'policies/limit.yaml'), POLICY)
    writeFileSync(join(cwd, 'tools/other.yaml'), TOOL.replaceAll('lookup', 'other'))
    expect((await svc(['lint', '--changed', 'HEAD'], { cwd })).stderr).toContain(
      '1 of 4 files affected by 1 changed file\n',
    )
  })

  test('reports the documents that led to one that is gone, or is called otherwise', async () => {
    git('init', '-b', 'main')
    git('add', '-A')
    git('commit', '-m', 'first')
    const told = async (): Promise<string[]> =>
      rulesOf((await svc(['lint', '--changed', 'main', '--json'], { cwd })).stdout).filter((each) =>
        /unresolved/.test(each),
      )
    rmSync(join(cwd, 'tools/lookup.yaml'))
    expect(await told()).toEqual(['agents/desk.yaml tool/unresolved'])
    writeFileSync(join(cwd, 'tools/lookup.yaml'), TOOL.replaceAll('lookup', 'search'))
    expect(await told()).toEqual(['agents/desk.yaml tool/unresolved'])
    rmSync(join(cwd, 'tools/lookup.yaml'))
    writeFileSync(join(cwd, 'tools/moved.yaml'), TOOL)
    const { stderr } = await svc(['lint', '--changed', 'main'], { cwd })
    expect(stderr).toContain('2 of 3 files affected by 2 changed files\n')
    expect(await told()).toEqual([])
  })

  test('refuses a base that git does not know', async () => {
    git('init', '-b', 'main')
    git('add', '-A')
    git('commit', '-m', 'first')
    expect(await svc(['lint', '--changed', 'nowhere'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('git cannot compare with "nowhere"') as string,
    })
  })
})

test('what is wrong in a file that was not named is not told, and policy tests wait for it', async () => {
  writeFileSync(join(cwd, 'policies/limit.yaml'), FIXED)
  writeFileSync(
    join(cwd, 'policies/limit.policytest.yaml'),
    'agent: acme.desk\ncalls:\n  - {tool: pay.lookup, args: {amount: 700}, expect: deny}\n',
  )
  writeFileSync(join(cwd, 'agents/desk.yaml'), AGENT.replace('pay.lookup@^1', 'pay.lookup@^2'))
  const { code, stdout, stderr } = await svc(['lint', 'policies/limit.yaml', '--format', 'compact'], { cwd })
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toMatch(/^0 errors, 0 warnings in 1 file \(\d+ ms\)\n$/)
})

test('a pipeline gets paths from the root of its repository', async () => {
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: home }
  const below = cwd.slice(home.length + 1)
  const { stdout } = await svc(['lint', 'policies'], { cwd, env })
  expect(stdout).toContain(`::error file=${below}/policies/limit.yaml,line=4,`)
  expect(stdout).toMatch(/^policies\/limit\.yaml:4:/)
  const { stdout: sarif } = await svc(['lint', 'policies', '--format', 'sarif'], { cwd, env })
  expect(sarif).toContain(`"uri":"${below}/policies/limit.yaml"`)
})

describe('severities', () => {
  test('of one rule are chosen on the command line, over the project file', async () => {
    writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: test\nlint: {rules: {id/invalid-semver: warn}}\n')
    expect((await svc(['lint'], { cwd })).code).toBe(0)
    expect((await svc(['lint', '--max-warnings', '0'], { cwd })).code).toBe(1)
    expect((await svc(['lint', '--rule', 'id/invalid-semver=error'], { cwd })).code).toBe(1)
    expect((await svc(['lint', '--rule', 'id/invalid-semver=off', '--max-warnings', '0'], { cwd })).code).toBe(0)
  })

  test('of a rule that does not exist are refused, on the command line and in the project file', async () => {
    const refused = { code: 2, stderr: expect.stringContaining('There is no rule "id/semver"') as string }
    expect(await svc(['lint', '--rule', 'id/semver=off'], { cwd })).toMatchObject(refused)
    writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: test\nlint: {rules: {id/semver: off}}\n')
    expect(await svc(['lint'], { cwd })).toMatchObject(refused)
  })

  test('of a rule on which compiling relies are refused, whatever command reads the project file', async () => {
    const why = (said: string) =>
      expect.stringContaining(`${said}: a document that breaks this rule is not compiled.`) as string
    expect(await svc(['lint', '--rule', 'policy/no-decision=off'], { cwd })).toMatchObject({
      code: 2,
      stderr: why('--rule sets policy/no-decision=off'),
    })
    writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: test\nlint: {rules: {policy/no-decision: warn}}\n')
    for (const command of ['lint', 'compile', 'publish'])
      expect(await svc([command], { cwd })).toMatchObject({
        code: 2,
        stderr: why('lint.rules sets policy/no-decision to warn'),
      })
  })
})

test('--no-cross-file judges each document by itself', async () => {
  writeFileSync(join(cwd, 'policies/limit.yaml'), FIXED)
  writeFileSync(join(cwd, 'agents/desk.yaml'), AGENT.replace('pay.limit', 'pay.nothing'))
  expect((await svc(['lint'], { cwd })).code).toBe(1)
  expect((await svc(['lint', '--no-cross-file'], { cwd })).code).toBe(0)
})

test('--check-env asks for the variables of the secrets, in the environment and in .env', async () => {
  writeFileSync(join(cwd, 'policies/limit.yaml'), FIXED)
  writeFileSync(
    join(cwd, 'agents/desk.yaml'),
    `${AGENT.replace('scripted, name: s', 'anthropic, name: m, secret: k')}secrets: {k: {fromEnv: SVC_TEST_KEY}}\n`,
  )
  expect((await svc(['lint'], { cwd })).code).toBe(0)
  const { code, stdout } = await svc(['lint', '--check-env', '--json'], { cwd })
  expect([code, rulesOf(stdout)]).toEqual([
    1,
    ['agents/desk.yaml limits/missing-tokens', 'agents/desk.yaml secret/env-missing'],
  ])
  expect((await svc(['lint', '--check-env'], { cwd, env: { SVC_TEST_KEY: 'x' } })).code).toBe(0)
  writeFileSync(join(cwd, '.env'), 'SVC_TEST_KEY=x\n')
  expect((await svc(['lint', '--check-env'], { cwd })).code).toBe(0)
})

test('under GitHub Actions annotations follow the text, and no other format is touched', async () => {
  const env = { GITHUB_ACTIONS: 'true' }
  expect((await svc(['lint'], { cwd, env })).stdout).toMatch(/\n::error file=policies\/limit\.yaml,line=4,/)
  expect((await svc(['lint', '--format', 'compact'], { cwd, env })).stdout).not.toContain('::error')
})

test('a guardrail of the project gates what nothing else does', async () => {
  writeFileSync(join(cwd, 'policies/limit.yaml'), FIXED.replace('spec:\n', 'spec:\n  scope: tool:pay.lookup\n'))
  writeFileSync(join(cwd, 'agents/desk.yaml'), AGENT.replace(', policies: [pay.limit]', ''))
  writeFileSync(
    join(cwd, 'tools/lookup.yaml'),
    TOOL.replace('read_only', 'non_idempotent_write').replace(
      'amount: {type: integer}}',
      'amount: {type: integer}}, additionalProperties: false',
    ),
  )
  expect(rulesOf((await svc(['lint', '--json'], { cwd })).stdout)).toEqual([
    'agents/desk.yaml security/write-without-approval',
  ])
  writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: test\nguardrails: [policies/limit.yaml]\n')
  expect(rulesOf((await svc(['lint', '--json'], { cwd })).stdout)).toEqual([])
})
