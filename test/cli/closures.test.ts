/** A command is concerned with one closure: what is wrong elsewhere in the project does not stop it. */
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { svc as run, temporary, type Ran } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

const clock = { now: () => Date.parse('2026-11-20T10:00:00Z'), monotonic: () => 0 }
let cwd = ''
let count = 0
const svc = (...argv: string[]): Promise<Ran> => run(argv, { cwd, clock })
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}

const AGENT = 'acme.refund-desk'
const ARGS = '{"amount":180,"order":"A-1","currency":"EUR"}'
const EVAL = ['policy', 'eval', '--tool', 'acme.refunds', '--args', ARGS]

/** Each for the bundle in a directory. */
const commands: readonly (readonly [string, (bundle: string) => readonly string[]])[] = [
  ['compile', (bundle) => ['compile', bundle]],
  ['compile --matrix', (bundle) => ['compile', bundle, '--matrix']],
  ['publish --plan', (bundle) => ['publish', bundle, '--plan']],
  ['publish', (bundle) => ['publish', bundle, '--deploy', '--data', `${bundle}/data`]],
  ['bundle tree', (bundle) => ['bundle', 'tree', bundle]],
  ['bundle sbom', (bundle) => ['bundle', 'sbom', bundle]],
  ['bundle pack', (bundle) => ['bundle', 'pack', bundle, '-o', `${bundle}/packed.tgz`]],
  ['bundle diff', (bundle) => ['bundle', 'diff', bundle, bundle]],
  ['policy eval of a path', (bundle) => [...EVAL, '--agent', bundle]],
  ['policy test', (bundle) => ['policy', 'test', bundle]],
  ['test', (bundle) => ['test', bundle, '--filter', 'timeout']],
  ['eval', (bundle) => ['eval', `${bundle}/one.jsonl`]],
]

const TEST = `agent: ${AGENT}
calls:
  - { tool: acme.refunds, args: ${ARGS}, expect: require_approval }
`

beforeAll(async () => {
  await run(['init', 'template', '--full'], { cwd: parent })
})
beforeEach(() => {
  cwd = join(parent, `project-${++count}`)
  mkdirSync(cwd)
  write('svc.config.yaml', 'workspace: team\n')
})

/** A case of `svc eval` that passes. */
const CASE = {
  input: { order: 'A-1', amount: 40 },
  tools: {
    'acme.orders.lookup': { result: { order: 'A-1', status: 'delivered', damaged: true } },
    'acme.refunds': { result: { order: 'A-1', amount: 40, currency: 'EUR' } },
  },
  checks: [{ calls: 'acme.refunds' }],
}

const bundle = (name: string): void => {
  cpSync(join(parent, 'template'), join(cwd, name), { recursive: true })
  write(`${name}/one.jsonl`, JSON.stringify(CASE))
  rmSync(join(cwd, name, 'svc.config.yaml'))
  // They are relative to the project.
  for (const file of readdirSync(join(cwd, name), { recursive: true, encoding: 'utf8' }).filter((each) =>
    /\.(?:scenario|policytest)\.yaml$/.test(each),
  ))
    write(`${name}/${file}`, readFileSync(join(cwd, name, file), 'utf8').replace('bundle: .', `bundle: ${name}`))
}
/** What differs from one place to the next. */
const plain = ({ code, stdout, stderr }: Ran, from: string): unknown => ({
  code,
  said: (stdout + stderr).replaceAll(from, 'BUNDLE'),
})

describe('beside a broken bundle', () => {
  test.each(commands)('%s of a valid bundle prints the same as without the broken one', async (_, argv) => {
    bundle('bundles/a')
    const alone = plain(await svc(...argv('bundles/a')), 'bundles/a')
    expect(alone).toMatchObject({ code: 0 })
    removeDirectory(join(cwd, 'bundles/a'))
    bundle('bundles/a')
    bundle('bundles/b')
    // One cannot be read, the others are wrong.
    appendFileSync(join(cwd, 'bundles/b/agents/refund-desk.yaml'), '\tbroken: [\n')
    appendFileSync(join(cwd, 'bundles/b/tools/refunds.yaml'), 'nonsense: true\n')
    writeFileSync(join(cwd, 'bundles/b/policies/refund-limit.yaml'), 'apiVersion: svc/v1\nkind: Policy\n')
    expect(plain(await svc(...argv('bundles/a')), 'bundles/a')).toEqual(alone)
    expect(await svc(...argv('bundles/b'))).toMatchObject({ code: 1 })
  })

  test.each(['bundle.yaml', 'agents/refund-desk.yaml', 'tools/refunds.yaml', 'policies/refund-limit.yaml'])(
    'a %s of it that cannot be read stops nobody but it',
    async (path) => {
      bundle('bundles/a')
      bundle('bundles/b')
      writeFileSync(join(cwd, 'bundles/b', path), '\t[')
      appendFileSync(join(cwd, 'bundles/b', path), readFileSync(join(cwd, 'bundles/a', path)))
      expect(await svc('compile', 'bundles/a')).toMatchObject({ code: 0 })
      expect(await svc('compile', 'bundles/b')).toMatchObject({ code: 1 })
    },
  )
})

test('of agents with one id, the one of the bundle around a test or a scenario is meant', async () => {
  bundle('bundles/a')
  bundle('bundles/b')
  for (const name of ['a', 'b'])
    for (const path of [`bundles/${name}/scenarios/timeout.scenario.yaml`])
      write(path, readFileSync(join(cwd, path), 'utf8').replace(/bundle: .*\n/, ''))
  appendFileSync(join(cwd, 'bundles/b/tools/refunds.yaml'), 'nonsense: true\n')
  write('bundles/a/desk.policytest.yaml', TEST)
  write('bundles/b/desk.policytest.yaml', TEST)
  for (const [name, code] of [
    ['a', 0],
    ['b', 1],
  ] as const) {
    expect((await svc('test', `bundles/${name}`, '--filter', 'timeout')).code).toBe(code)
    expect((await svc('policy', 'test', `bundles/${name}/desk.policytest.yaml`)).code).toBe(code)
  }
  expect(await svc(...EVAL, '--agent', AGENT)).toMatchObject({
    code: 2,
    stderr: `error[ambiguous_reference]: "${AGENT}" could be bundles/a/bundle.yaml, bundles/b/bundle.yaml.\n`,
  })
})

test('an agent is asked about by its id, among several bundles', async () => {
  bundle('bundles/a')
  bundle('bundles/b')
  for (const path of ['bundles/b/bundle.yaml', 'bundles/b/agents/refund-desk.yaml'])
    write(path, readFileSync(join(cwd, path), 'utf8').replace('name: refund-desk', 'name: other-desk'))
  write('checks/desk.policytest.yaml', TEST)
  expect(await svc(...EVAL, '--agent', AGENT)).toMatchObject({ code: 0 })
  expect(await svc('policy', 'test', 'checks')).toMatchObject({
    code: 0,
    stdout: 'checks/desk.policytest.yaml   1 passed\n',
  })
})

test('of bundles in one directory, the one that reaches the agent is meant', async () => {
  bundle('.')
  const other = (path: string): string =>
    readFileSync(join(cwd, path), 'utf8')
      .replace('name: refund', 'name: another')
      .replace('agents/refund-desk.yaml', 'agents/another.yaml')
  write('agents/another.yaml', other('agents/refund-desk.yaml'))
  // In the order of their paths it is the first.
  write('another.yaml', other('bundle.yaml'))
  const asked = (agent: string) => svc(...EVAL, '--agent', agent)
  expect(await asked(AGENT)).toMatchObject({ code: 0 })
  expect(await asked('acme.another-desk')).toMatchObject({ code: 0 })
  expect(await asked('acme.fraud-check')).toMatchObject({
    code: 2,
    stderr: 'error[ambiguous_reference]: "acme.fraud-check" could be another.yaml, bundle.yaml.\n',
  })
  expect(await asked('acme.nobody')).toMatchObject({ code: 5 })
}, 60_000)

describe('in the bundle itself', () => {
  beforeEach(() => bundle('shop'))
  const sound = async (): Promise<void> => expect(await svc('compile', 'shop')).toMatchObject({ code: 0 })
  const stopped = async (): Promise<void> => expect(await svc('compile', 'shop')).toMatchObject({ code: 1 })

  test('an error in a document that the closure does not reach stops nothing', async () => {
    write('shop/agents/draft.yaml', 'apiVersion: svc/v1\nkind: Agent\nmetadata: {name: Draft}\nspec: {}\n')
    write('shop/tools/draft.yaml', 'apiVersion: svc/v1\nkind: Tool\nmetadata: {name: draft, namespace: acme}\n')
    await sound()
    expect(await svc('lint')).toMatchObject({ code: 1 })
  })

  test('nor does an agent that cannot be read and that nobody names', async () => {
    write('shop/agents/draft.yaml', 'apiVersion: svc/v1\nkind: Agent\n\t[\n')
    await sound()
  })

  test('a policy that cannot be read stops it: it may stand for a boundary', async () => {
    write('shop/policies/draft.yaml', 'apiVersion: svc/v1\nkind: Policy\n\t[\n')
    await stopped()
  })

  test.each([
    'bundle.yaml',
    'agents/refund-desk.yaml',
    'agents/fraud-check.yaml',
    'tools/refunds.yaml',
    'policies/refund-limit.yaml',
    'policies/large-refunds.yaml',
  ])('an error in %s, which it reaches, stops it', async (path) => {
    appendFileSync(join(cwd, 'shop', path), 'nonsense: true\n')
    await stopped()
  })

  test('of two documents in one file, the one that is reached counts', async () => {
    const tools = readFileSync(join(cwd, 'shop/tools/refunds.yaml'), 'utf8')
    write('shop/tools/refunds.yaml', `${tools}---\napiVersion: svc/v1\nkind: Tool\nnonsense: true\n`)
    await sound()
    write('shop/tools/refunds.yaml', `${tools}nonsense: true\n---\napiVersion: svc/v1\nkind: Tool\n`)
    await stopped()
  })
})
