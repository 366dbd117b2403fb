import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageSpecifier } from '../../src/cli/shell/version.ts'
import { svc, temporary } from './recording-io.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const { path: cwd, remove } = temporary()
afterAll(remove)

const tree = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(directory, path)).isFile() && !path.endsWith('.log') && !path.startsWith('.svc'))
      .sort()
      .map((path) => [path, readFileSync(join(directory, path), 'utf8')]),
  )

test('the example is the template', () => {
  expect(tree(join(ROOT, 'examples/refund'))).toEqual(tree(join(ROOT, 'templates/refund')))
})

describe('svc init', () => {
  test('on a terminal asks which template and name, shows the files, and writes none of them before a yes', async () => {
    const answers = ['asked', 'blank', 'globex.helper', false]
    const refused = await svc(['init'], { cwd, tty: true, answers })
    expect(refused.code).toBe(0)
    expect(refused.stderr).toContain(
      'asked/\n  .gitignore  .gitattributes  README.md  bundle.yaml  svc.config.yaml  AGENTS.md\n',
    )
    expect(refused.stderr).toContain('  agents/  helper.yaml\n')
    expect(refused.stderr).toContain('nothing was written')
    expect(existsSync(join(cwd, 'asked'))).toBe(false)
    const { stdout } = await svc(['init'], { cwd, tty: true, answers: ['asked', 'blank', '', true] })
    expect(stdout).toMatch(/^created asked\/ \(\d+ files\): 1 agent, 1 bundle, 3 scenarios, svc\.config\.yaml\n$/)
    expect(existsSync(join(cwd, 'asked/agents/assistant.yaml'))).toBe(true)
  })

  test('asks for folder, template and name, in this order, and takes an empty answer for what it suggests', async () => {
    const asked = await svc(['init'], { cwd, tty: true, answers: ['', 'blank', '', true] })
    expect(asked.asked).toEqual([
      'folder (empty: my-agents, . is this one):',
      'template:',
      'namespace.name of the agent (empty: as in the template):',
      expect.stringMatching(/^Write these \d+ files\?$/) as string,
    ])
    expect(asked.stdout).toMatch(/^created my-agents\/ /)
    const named = await svc(['init'], { cwd, tty: true, answers: ['desk', 'blank', 'globex.helper', true] })
    expect(named.stdout).toMatch(/^created desk\/ /)
    expect(existsSync(join(cwd, 'desk/agents/helper.yaml'))).toBe(true)
  })

  test('asks for the folder where only the template is given, and nothing where the folder is', async () => {
    const { asked } = await svc(['init', '-t', 'blank'], { cwd, tty: true, answers: ['', '', false] })
    expect(asked[0]).toBe('folder (empty: blank-demo, . is this one):')
    expect(asked).toHaveLength(3)
    const given = await svc(['init', 'silent'], { cwd, tty: true })
    expect(given).toMatchObject({ code: 0, asked: [] })
  })

  test('asks nothing with --yes or without a terminal, and refuses an unknown template before a question', async () => {
    const unknown = await svc(['init', '-t', 'refnd'], { cwd, tty: true })
    expect(unknown).toMatchObject({ code: 2, asked: [] })
    for (const [folder, tty] of [
      ['yes', true],
      ['pipe', false],
    ] as const) {
      mkdirSync(join(cwd, folder))
      const { code, asked } = await svc(['init', ...(tty ? ['--yes'] : [])], { cwd: join(cwd, folder), tty })
      expect({ code, asked }).toEqual({ code: 0, asked: [] })
      expect(existsSync(join(cwd, folder, 'agent.yaml'))).toBe(true)
    }
  })

  test('writes nine files and two for git, with one policy that is attached in one place', async () => {
    const { code, stdout } = await svc(['init', 'ten'], { cwd })
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'created ten/ (11 files): 1 agent, 1 tool, 1 policy, 1 scenario, svc.config.yaml\n',
    })
    const written = tree(join(cwd, 'ten'))
    expect(Object.keys(written)).toEqual([
      '.gitattributes',
      '.gitignore',
      'README.md',
      'agent.yaml',
      'handlers/refunds.mjs',
      'models/script.yaml',
      'policies/refund-limit.yaml',
      'scenarios/refund.scenario.yaml',
      'schemas/input.json',
      'svc.config.yaml',
      'tools/refunds.yaml',
    ])
    const attaching = Object.values(written).flatMap((text) =>
      [...text.matchAll(/^ *(?:- )?(?:policies|default_policies|scope|authority_ref|authority_boundaries):/gm)].flat(),
    )
    expect(attaching).toEqual(['      policies:'])
  })

  test('--full is another name of the refund template, and of no other', async () => {
    await svc(['init', 'whole', '--full'], { cwd })
    await svc(['init', 'elsewhere/whole', '-t', 'refund'], { cwd })
    expect(tree(join(cwd, 'whole'))).toEqual(tree(join(cwd, 'elsewhere/whole')))
    expect(await svc(['init', 'neither', '--full', '-t', 'blank'], { cwd })).toMatchObject({
      code: 2,
      stderr: 'error[usage]: --full is the template refund: leave out one of the two.\n',
    })
  })

  test('--full writes the whole template, a workspace named after the directory, and what git reads', async () => {
    const { code, stdout, stderr } = await svc(['init', 'refund-demo', '--full'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^created refund-demo\/ \(\d+ files\): 1 agent, 1 sub-agent, 2 tools, 2 policies, 1 bundle, 7 scenarios, svc\.config\.yaml\n$/,
    )
    expect(stderr).toBe('next:  cd refund-demo && svc dev          no API key needed, the model is scripted\n')
    const written = tree(join(cwd, 'refund-demo'))
    const own = Object.entries(written).filter(([path]) => !path.startsWith('.schemas/'))
    const withoutHeader = (text: string): string => text.replace(/^# yaml-language-server: .*\n/, '')
    expect(Object.fromEntries(own.map(([path, text]) => [path, withoutHeader(text)]))).toEqual({
      ...tree(join(ROOT, 'templates/refund')),
      'AGENTS.md': readFileSync(join(ROOT, 'templates/AGENTS.md'), 'utf8'),
      '.claude/skills/svc/SKILL.md': readFileSync(join(ROOT, 'templates/SKILL.md'), 'utf8'),
      '.gitattributes': '* text=auto eol=lf\n',
      '.gitignore': '.svc/\n.env\n.env.*\n*.log\n',
    })
  })

  test('tells editors the schema of each document, and brings the schemas along', async () => {
    const written = tree(join(cwd, 'refund-demo'))
    const headers = Object.entries(written).flatMap(([path, text]) => {
      const schema = /^# yaml-language-server: \$schema=(.*)\n/.exec(text)?.[1]
      return schema === undefined ? [] : [`${path} ${schema}`]
    })
    expect(headers).toEqual([
      'agents/fraud-check.yaml ../.schemas/agent.schema.json',
      'agents/refund-desk.yaml ../.schemas/agent.schema.json',
      'bundle.yaml ./.schemas/bundle.schema.json',
      'policies/large-refunds.yaml ../.schemas/policy.schema.json',
      'policies/refund-limit.yaml ../.schemas/policy.schema.json',
      'policies/refund.policytest.yaml ../.schemas/policytest.schema.json',
      ...['again', 'approve', 'edited', 'reject', 'small', 'timeout', 'two-approvers'].map(
        (name) => `scenarios/${name}.scenario.yaml ../.schemas/scenario.schema.json`,
      ),
      'svc.config.yaml ./.schemas/config.schema.json',
      'tools/orders-lookup.yaml ../.schemas/tool.schema.json',
      'tools/refunds.yaml ../.schemas/tool.schema.json',
    ])
    for (const kind of ['agent', 'tool', 'policy', 'bundle', 'config', 'scenario', 'policytest'])
      expect(written[`.schemas/${kind}.schema.json`]).toBe((await svc(['schema', kind], { cwd: ROOT })).stdout)
  })

  test('refuses a directory that is not empty, and with --force keeps what is there', async () => {
    const again = await svc(['init', 'refund-demo', '--full', '--json'], { cwd })
    expect(again).toMatchObject({ code: 6, stdout: '' })
    expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: 'directory_not_empty' } })
    writeFileSync(join(cwd, 'refund-demo/README.md'), 'mine\n')
    const forced = await svc(['init', 'refund-demo', '--full', '--force', '--json'], { cwd })
    const { files } = JSON.parse(forced.stdout) as { files: { path: string; action: string }[] }
    expect(files.every(({ action }) => action === 'skipped')).toBe(true)
    expect(readFileSync(join(cwd, 'refund-demo/README.md'), 'utf8')).toBe('mine\n')
  })

  test('leaves nothing of its own where a file cannot be written, and works once it can', async () => {
    const given = { 'README.md': 'mine\n', scenarios: 'a file where a folder must be\n' }
    const directory = join(cwd, 'halfway')
    mkdirSync(directory)
    for (const [path, text] of Object.entries(given)) writeFileSync(join(directory, path), text)
    const init = () => svc(['init', 'halfway', '--template', 'refund', '--force'], { cwd })
    expect(await init()).toMatchObject({ code: 2, stdout: '' })
    expect(tree(directory)).toEqual(given)
    expect(readdirSync(directory).toSorted()).toEqual(Object.keys(given).toSorted())
    rmSync(join(directory, 'scenarios'))
    expect(await init()).toMatchObject({ code: 0, stdout: expect.stringContaining('7 scenarios') as string })
    expect(readFileSync(join(directory, 'README.md'), 'utf8')).toBe('mine\n')
  })

  test('--name renames namespace and agent everywhere, and the result is as clean as the template', async () => {
    await svc(['init', 'claims', '--full', '--name', 'globex.claims-desk'], { cwd })
    const directory = join(cwd, 'claims')
    expect(existsSync(join(directory, 'agents/claims-desk.yaml'))).toBe(true)
    const own = Object.entries(tree(directory)).filter(([path]) => !path.startsWith('.schemas/'))
    expect(own.filter(([, text]) => /acme\.(?!example)|refund-desk/.test(text))).toEqual([])
    expect(await svc(['lint'], { cwd: directory })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^0 errors, 0 warnings in 7 files \(\d+ ms\)\n$/) as string,
    })
  })

  test('--ci writes a pipeline and pins the svc that it runs; --no-git leaves the .gitignore out', async () => {
    const { stdout, stderr } = await svc(['init', 'piped', '-t', 'blank', '--ci', 'gitlab', '--no-git', '--json'], {
      cwd,
    })
    const { files, next } = JSON.parse(stdout) as { files: { path: string }[]; next: string[] }
    expect(files.map(({ path }) => path).filter((path) => /^(\.git|package)/.test(path))).toEqual([
      '.gitlab-ci.yml',
      'package.json',
    ])
    expect(next).toEqual(['cd piped', 'npm install --ignore-scripts', 'svc compile', 'svc dev'])
    expect(stderr).toBe('')
    expect(JSON.parse(readFileSync(join(cwd, 'piped/package.json'), 'utf8'))).toEqual({
      private: true,
      devDependencies: { '@svc-agents/cli': packageSpecifier },
    })
  })

  test('an invalid name is refused before anything is written', async () => {
    expect(await svc(['init', 'other', '--name', 'Claims'], { cwd })).toMatchObject({ code: 2 })
    expect(existsSync(join(cwd, 'other'))).toBe(false)
  })
})

test('the template is clean and compiles to two policies', async () => {
  const directory = join(cwd, 'plain')
  await svc(['init', 'plain', '--full'], { cwd })
  expect(await svc(['lint'], { cwd: directory })).toEqual({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^0 errors, 0 warnings in 7 files \(\d+ ms\)\n$/) as string,
    asked: [],
  })
  const { code, stdout } = await svc(['compile', '--matrix'], { cwd: directory })
  expect(code).toBe(0)
  expect(stdout).toBe(
    [
      'acme.refund-desk@1.0.0',
      '  acme.orders.lookup\tallow\tdefault\tread_only',
      '  acme.refunds\trequire_approval\teffect key\trefund:{args.order} again',
      '  acme.refunds\trequire_approval\tacme.large-refunds@1.0.0\targs.amount > 1000',
      '  acme.refunds\trequire_approval\tacme.refund-limit@1.0.0\targs.amount > 100',
      '  acme.refunds\tallow\tdefault\totherwise',
      '  acme.fraud-check\tallow\tdefault\tdelegation',
      '',
    ].join('\n'),
  )
})

describe('svc policy eval decides one call with the policies of the template', () => {
  const directory = join(cwd, 'decisions')
  beforeAll(() => svc(['init', 'decisions', '--full'], { cwd }))

  test.each([
    [100, 'allow', null],
    [100.01, 'require_approval', 1],
    [1000, 'require_approval', 1],
    [1000.01, 'require_approval', 2],
  ])('a refund of %d: %s', async (amount, decision, approvalsRequired) => {
    const argv = [
      'policy',
      'eval',
      '--tool',
      'acme.refunds',
      '--args',
      JSON.stringify({ order: 'A-1', amount, currency: 'EUR' }),
    ]
    const { code, stdout } = await svc([...argv, '--expect', decision, '--json'], { cwd: directory })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ decision, approvalsRequired })
    expect((await svc([...argv, '--expect', 'escalate'], { cwd: directory })).code).toBe(1)
  })
})

test('svc compile --check reports when the lock is not what the documents compile to', async () => {
  const directory = join(cwd, 'locked')
  await svc(['init', 'locked', '--full'], { cwd })
  expect(await svc(['compile', '--check'], { cwd: directory })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no svc.lock.') as string,
  })
  await svc(['compile'], { cwd: directory })
  expect((await svc(['compile', '--check'], { cwd: directory })).code).toBe(0)
  const policy = join(directory, 'policies/refund-limit.yaml')
  writeFileSync(policy, readFileSync(policy, 'utf8').replace('value: 100', 'value: 250'))
  const drifted = await svc(['compile', '--check', '--json'], { cwd: directory })
  expect([drifted.code, drifted.stdout]).toEqual([1, ''])
  expect(JSON.parse(drifted.stderr)).toMatchObject({ error: { code: 'compile/drift' } })
})

test('svc lint of standard input stands in for the file it names', async () => {
  const document = readFileSync(join(ROOT, 'templates/refund/policies/refund-limit.yaml'), 'utf8').replace(
    'kind: Policy',
    'kind: policy',
  )
  const { code, stdout } = await svc(
    ['lint', '-', '--stdin-filename', 'policies/refund-limit.yaml', '--format', 'compact'],
    { cwd: join(cwd, 'plain'), stdin: document },
  )
  expect(code).toBe(1)
  expect(stdout).toMatch(/^policies\/refund-limit\.yaml:2:\d+ .*doc\/kind-unknown/m)
})

test('svc lint where nothing is ends with 5, and in a directory that is not there with 2', async () => {
  mkdirSync(join(cwd, 'empty'))
  expect(await svc(['lint', '-C', 'empty'], { cwd })).toMatchObject({ code: 5, stdout: '' })
  expect(await svc(['lint', '-C', 'nowhere'], { cwd })).toMatchObject({ code: 2, stdout: '' })
})

describe('the handler of the refund tool', () => {
  const ledger = join(cwd, 'ledger.jsonl')
  const book = (key: string, amount: number): unknown =>
    JSON.parse(
      execFileSync(process.execPath, [join(ROOT, 'templates/refund/handlers/refunds.mjs')], {
        input: JSON.stringify({
          tool: 'acme.refunds',
          arguments: { order: 'A-1042', amount, currency: 'EUR' },
          idempotency_key: key,
          run: {},
        }),
        env: { REFUNDS_LEDGER: ledger },
        encoding: 'utf8',
      }),
    )

  test('books a key once, answers its repetition alike, and counts every call', () => {
    expect(book('k1', 180)).toEqual({ order: 'A-1042', amount: 180, currency: 'EUR' })
    expect(book('k1', 180)).toEqual({ order: 'A-1042', amount: 180, currency: 'EUR' })
    expect(book('k2', 20)).toEqual({ order: 'A-1042', amount: 20, currency: 'EUR' })
    const lines = readFileSync(ledger, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string; booked: boolean })
    expect(lines.map(({ key, booked }) => [key, booked])).toEqual([
      ['k1', true],
      ['k1', false],
      ['k2', true],
    ])
  })
})
