/** Bundles and versions: what a change asks for, who may publish it, and what an archive carries. */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { makeIrreversible } from './desk.ts'
import { svc as runSvc, temporary, type Ran, type WorldOptions } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

const BUNDLE =
  'apiVersion: svc/v1\nkind: Bundle\nmetadata: { name: desk, namespace: acme, version: 1.0.0 }\nspec: { root: desk.yaml }\n'
const EXAMPLE = resolve(import.meta.dirname, '../../examples/refund')
const { path: parent, remove } = temporary()
afterAll(remove)

let cwd = ''
let count = 0
beforeEach(() => {
  cwd = join(parent, `shop${count++}`)
  cpSync(EXAMPLE, cwd, { recursive: true })
  makeIrreversible(cwd)
})

const svc = (argv: readonly string[], options: Omit<WorldOptions, 'cwd'> = {}): Promise<Ran> =>
  runSvc(argv, { cwd, ...options })

async function json<T>(argv: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await svc([...argv, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as T
}

/** Replaces a text that must be there. */
function edit(path: string, from: string, to: string): void {
  const file = join(cwd, path)
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(from)
  writeFileSync(file, text.replace(from, to))
}

const version = (path: string, to: string, from = '1.0.0'): void => edit(path, `version: ${from}`, `version: ${to}`)

/** The limit from 100 to 250, for the gate and for the grant beside it. */
function raiseLimit(agentVersion: string): void {
  edit('policies/refund-limit.yaml', 'value: 100', 'value: 250')
  edit('policies/small-refunds.yaml', 'value: 100', 'value: 250')
  version('policies/refund-limit.yaml', '2.0.0')
  version('policies/small-refunds.yaml', '2.0.0')
  version('agents/refund-desk.yaml', agentVersion)
}

interface Told {
  readonly kind: string
  readonly tool?: string
  readonly witness?: { readonly arguments: { readonly amount: number } }
}
interface Published {
  readonly published: readonly {
    readonly kind: string
    readonly id: string
    readonly version: string
    readonly already: boolean
  }[]
  readonly plan: {
    readonly breaking: boolean
    readonly changes: readonly Told[]
    readonly steps: readonly { readonly id: string; readonly from: string | null; readonly to: string }[]
  }
}

const errorOf = ({ stderr }: Ran) => (JSON.parse(stderr) as { error: { code: string; message: string } }).error

describe('publishing', () => {
  test('a first version has nothing to be compared with', async () => {
    const { published, plan } = await json<Published>(['publish'])
    expect(published.map(({ id }) => id)).toContain('acme.refund-desk')
    expect([plan.breaking, plan.changes]).toEqual([false, []])
    expect(plan.steps.find(({ id }) => id === 'acme.refund-desk')).toMatchObject({ from: null, to: '1.0.0' })
  })

  test('a first version shows all that it may do', async () => {
    const { code, stdout, stderr } = await svc(['publish', '--plan'])
    expect([code, stdout.split('\n').slice(0, 3)]).toEqual([
      0,
      [
        'acme.refund-desk',
        '  acme.orders.lookup\tallow\tdefault\tread_only',
        '  acme.refunds\tdeny\tacme.refund-ceiling@1.0.0\targs.amount > 5000',
      ],
    ])
    expect(stderr).not.toContain('nothing changes')
  })

  test('a member whose own change is breaking announces it in its own version', async () => {
    await json(['publish'])
    raiseLimit('2.0.0')
    const step = async () =>
      (await json<Published>(['publish', '--plan'])).plan.steps.find(({ id }) => id === 'acme.refund-limit')
    const plan = { from: '1.0.0', required: 'major' }
    expect(await step()).toMatchObject({ ...plan, to: '2.0.0', given: 'major', enough: true })
    version('policies/refund-limit.yaml', '1.9.0', '2.0.0')
    expect(await step()).toMatchObject({ ...plan, to: '1.9.0', given: 'minor', enough: false })
    expect(errorOf(await svc(['publish', '--allow-widen', '--json'])).message).toContain(
      'acme.refund-limit@1.9.0 is too small a step from 1.0.0: what changed is major',
    )
  })

  test('a plan reports what would change, and stores nothing', async () => {
    await json(['publish'])
    raiseLimit('2.0.0')
    const { published, plan } = await json<Published>(['publish', '--plan'])
    expect([published, plan.breaking]).toEqual([[], true])
    expect(plan.changes).toMatchObject([
      {
        kind: 'authority.widened',
        severity: 'major',
        widens: true,
        agent: 'acme.refund-desk',
        tool: 'acme.refunds',
        verdict: 'loosened',
        witness: { tool: 'acme.refunds', arguments: { amount: 250 }, before: 'require_approval', after: 'allow' },
        path: expect.stringMatching(/^policies\/.*\.yaml:\d+$/) as string,
      },
    ])
    expect((await json<{ total: number }>(['versions', 'list', 'acme.refund-desk'])).total).toBe(1)
  })

  test('wider authority needs a flag, or a person who confirms', async () => {
    await json(['publish'])
    raiseLimit('2.0.0')
    const refused = await svc(['publish', '--json'])
    expect([refused.code, refused.stdout, errorOf(refused).code]).toEqual([2, '', 'authority_widened'])
    const no = await svc(['publish'], { tty: true, answers: [false] })
    expect([no.code, no.asked]).toEqual([0, ['Publish a version with wider authority?']])
    expect(no.stderr).toContain('nothing was published')
    const yes = await svc(['publish'], { tty: true, answers: [true] })
    expect([yes.code, yes.stdout]).toEqual([0, expect.stringContaining('published acme.refund-desk@2.0.0') as string])
    expect((await json<Published>(['publish', '--allow-widen'])).published.every(({ already }) => already)).toBe(true)
  })

  test('a version that announces less than what changed is refused, whatever was allowed', async () => {
    await json(['publish'])
    raiseLimit('1.1.0')
    const { code, stdout, stderr } = await svc(['publish', '--allow-widen', '--json'])
    expect([code, stdout]).toEqual([1, ''])
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: 'version_too_small',
        message:
          'acme.refund-desk@1.1.0 is too small a step from 1.0.0: what changed is major, so it is at least 2.0.0.',
      },
    })
  })

  test('a stricter limit needs a minor version and no confirmation', async () => {
    await json(['publish'])
    edit('policies/refund-limit.yaml', 'value: 100', 'value: 50')
    edit('policies/small-refunds.yaml', 'value: 100', 'value: 50')
    expect((await svc(['publish', '--bump', 'patch'])).code).toBe(1)
    const { plan } = await json<Published>(['publish', '--bump', 'minor'])
    expect(plan.changes.map(({ kind }) => kind)).toEqual(['authority.narrowed'])
  })

  test('--bump raises the root and whatever changed, and keeps everything else in the files', async () => {
    await json(['publish'])
    edit('agents/refund-desk.yaml', 'version: 1.0.0', "version: '1.0.0' # of the desk")
    edit('prompts/fraud-check.md', '\n', '\nBe brief.\n')
    const before = readFileSync(join(cwd, 'agents/refund-desk.yaml'), 'utf8')
    await json(['publish', '--plan', '--bump', 'patch'])
    expect(readFileSync(join(cwd, 'agents/refund-desk.yaml'), 'utf8')).toBe(before)
    const { published } = await json<Published>(['publish', '--bump', 'patch'])
    expect(
      published
        .filter(({ already }) => !already)
        .map(({ id, version }) => `${id}@${version}`)
        .sort(),
    ).toEqual(['acme.fraud-check@1.0.1', 'acme.refund-desk@1.0.1'])
    expect(readFileSync(join(cwd, 'agents/refund-desk.yaml'), 'utf8')).toBe(
      before.replace("version: '1.0.0' # of the desk", "version: '1.0.1' # of the desk"),
    )
    expect(readFileSync(join(cwd, 'policies/refund-limit.yaml'), 'utf8')).toContain('version: 1.0.0')
  })

  test('--bump raises a policy that was raised too little, and what widens is reported with its name once', async () => {
    await json(['publish', 'policies/refund-ceiling.yaml'])
    edit('policies/refund-ceiling.yaml', 'value: 5000', 'value: 9000')
    version('policies/refund-ceiling.yaml', '1.1.0')
    const { stderr } = await svc(['publish', 'policies/refund-ceiling.yaml'])
    expect(stderr.split('\n').filter((line) => line.startsWith('  acme.refund-ceiling'))).toEqual([
      expect.stringMatching(/^ {2}acme\.refund-ceiling: deny when args\.amount > 5000 → 9000/),
    ])
    const widened = ['publish', 'policies/refund-ceiling.yaml', '--allow-widen', '--bump']
    expect((await svc([...widened, 'minor'])).code).toBe(1)
    const { published } = await json<Published>([...widened, 'major'])
    expect(published.map(({ id, version }) => `${id}@${version}`)).toEqual(['acme.refund-ceiling@2.0.0'])
  })

  test('under CI a lock that is not what the documents compile to is an error that lists each member', async () => {
    await json(['compile'])
    edit('prompts/refund-desk.md', '\n', '\nBe brief.\n')
    const { code, stderr } = await svc(['publish', '--json'], { env: { CI: 'true' } })
    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: 'compile/drift',
        message: expect.stringMatching(
          /^svc\.lock says sha256:[0-9a-f]{8}…, the documents compile to sha256:[0-9a-f]{8}…$/,
        ),
        details: expect.arrayContaining([
          { path: 'svc.lock', message: 'instructions prompts/refund-desk.md has changed.' },
        ]),
      },
    })
    await json(['compile'])
    expect((await svc(['publish', '--json'], { env: { CI: 'true' } })).code).toBe(0)
  })

  test('under CI a bundle without a lock is not published; a Tool alone needs none', async () => {
    const refused = await svc(['publish', '--json'], { env: { CI: 'true' } })
    expect([refused.code, errorOf(refused)]).toMatchObject([
      1,
      { code: 'compile/drift', message: 'There is no svc.lock.', hint: 'svc compile, and commit svc.lock.' },
    ])
    expect((await svc(['publish', '--plan', '--json'], { env: { CI: 'true' } })).code).toBe(1)
    expect((await svc(['publish', 'tools/refunds.yaml', '--json'], { env: { CI: 'true' } })).code).toBe(0)
  })

  test('agents that stand alone in one directory have a lock each, and under CI each is held to its own', async () => {
    const alone = join(parent, `alone${count++}`)
    mkdirSync(alone)
    const agent = (name: string): string =>
      `apiVersion: svc/v1\nkind: Agent\nmetadata: { name: ${name}, namespace: acme, version: 1.0.0 }\nspec:\n  purpose: Works.\n  instructions: { text: Work. }\n  model: { provider: auto, name: m }\n`
    for (const name of ['one', 'two']) writeFileSync(join(alone, `${name}.yaml`), agent(name))
    const publish = (name: string) => runSvc(['publish', `${name}.yaml`, '--json'], { cwd: alone, env: { CI: 'true' } })
    const locks = () => readdirSync(alone).filter((name) => name.endsWith('.lock'))
    expect(errorOf(await publish('one'))).toMatchObject({ message: 'There is no acme.one.svc.lock.' })
    for (const name of ['one', 'two']) await runSvc(['compile', `${name}.yaml`], { cwd: alone })
    expect(locks()).toEqual(['acme.one.svc.lock', 'acme.two.svc.lock'])
    expect([(await publish('one')).code, (await publish('two')).code]).toEqual([0, 0])
    writeFileSync(join(alone, 'two.yaml'), agent('two').replace('Work.', 'Work well.'))
    expect(errorOf(await publish('two'))).toMatchObject({ message: expect.stringContaining('acme.two.svc.lock says') })
    expect((await publish('one')).code).toBe(0)
    await runSvc(['pack', 'one.yaml', '-o', 'one.tgz'], { cwd: alone })
    expect((await runSvc(['bundle', 'verify', 'one.tgz'], { cwd: alone })).code).toBe(0)
    expect((await publish('one')).code).toBe(0)
    rmSync(join(alone, 'two.yaml'))
    expect((await publish('one')).code).toBe(0)
    rmSync(join(alone, 'acme.one.svc.lock'))
    await runSvc(['compile', 'one.yaml'], { cwd: alone })
    expect(locks()).toEqual(['acme.two.svc.lock', 'svc.lock'])
  })

  test('a deployment names the agents that are bound late and not deployed', async () => {
    const late = join(parent, `late${count++}`)
    mkdirSync(late)
    const agent = (name: string, more = ''): string =>
      `apiVersion: svc/v1\nkind: Agent\nmetadata: { name: ${name}, namespace: acme, version: 1.0.0 }\nspec:\n  purpose: Works.\n  instructions: { text: Work. }\n  model: { provider: auto, name: m }\n${more}`
    writeFileSync(join(late, 'bundle.yaml'), BUNDLE)
    writeFileSync(
      join(late, 'desk.yaml'),
      agent('desk', '  agents: [{ ref: acme.clerk, late_bound: true, description: Helps. }]\n'),
    )
    writeFileSync(join(late, 'clerk.yaml'), agent('clerk'))
    const ship = async (...argv: string[]) => {
      const { code, stderr } = await runSvc([...argv, '--data', '.svc'], { cwd: late })
      return [code, stderr.split('\n').filter((line) => /bound late|^next/.test(line))]
    }
    const told =
      'acme.desk delegates to acme.clerk, which is bound late and not deployed: such a call is an error until it is'
    expect(await ship('publish', '--deploy', '--allow-widen')).toEqual([
      0,
      [told, 'next:  svc publish clerk.yaml --deploy'],
    ])
    expect(await ship('publish', 'clerk.yaml', '--allow-widen')).toEqual([0, ['next:  svc deploy acme.clerk@1.0.0']])
    expect(await ship('deploy', 'acme.desk@1.0.0', '--json')).toEqual([0, [told, 'next:  svc deploy acme.clerk']])
    expect(await ship('publish', '.', 'clerk.yaml', '--deploy')).toEqual([0, []])
  })

  test('the lock lies beside the bundle, from wherever it is compiled', async () => {
    mkdirSync(join(cwd, 'shop'))
    for (const name of ['agents', 'bundle.yaml', 'models', 'policies', 'prompts', 'schemas', 'tools'])
      renameSync(join(cwd, name), join(cwd, 'shop', name))
    removeDirectory(join(cwd, 'scenarios'))
    await json(['compile'])
    const lock = readFileSync(join(cwd, 'shop/svc.lock'), 'utf8')
    await json(['compile', 'shop/bundle.yaml'])
    await json(['compile', '-C', 'shop'])
    expect(readFileSync(join(cwd, 'shop/svc.lock'), 'utf8')).toBe(lock)
    expect((await svc(['publish', '--json'], { env: { CI: 'true' } })).code).toBe(0)
  })

  test('a Tool alone is held to its own version', async () => {
    await json(['publish', 'tools/refunds.yaml'])
    edit('tools/refunds.yaml', 'required: [order, amount, currency]', 'required: [order, amount, currency, reason]')
    edit(
      'tools/refunds.yaml',
      'currency: { enum: [EUR] }',
      'currency: { enum: [EUR] }\n        reason: { type: string }',
    )
    version('tools/refunds.yaml', '1.1.0')
    const refused = await svc(['publish', 'tools/refunds.yaml', '--json'])
    expect([refused.code, errorOf(refused).code]).toEqual([1, 'version_too_small'])
    version('tools/refunds.yaml', '2.0.0', '1.1.0')
    const { plan } = await json<Published>(['publish', 'tools/refunds.yaml'])
    expect(plan.changes.map(({ kind }) => kind)).toEqual(['input.narrowed'])
  })

  test('a Policy alone is compared with its predecessor', async () => {
    await json(['publish', 'policies/refund-ceiling.yaml'])
    edit('policies/refund-ceiling.yaml', 'value: 5000', 'value: 9000')
    version('policies/refund-ceiling.yaml', '2.0.0')
    const refused = await svc(['publish', 'policies/refund-ceiling.yaml', '--json'])
    expect([refused.code, errorOf(refused).code]).toEqual([2, 'authority_widened'])
    const { plan } = await json<Published>(['publish', 'policies/refund-ceiling.yaml', '--allow-widen'])
    expect(plan.changes[0]?.witness?.arguments).toEqual({ amount: 9000 })
  })
})

describe('comparing', () => {
  test('two versions, two directories, and a directory with a version', async () => {
    await json(['publish'])
    cpSync(cwd, `${cwd}-before`, { recursive: true })
    raiseLimit('2.0.0')
    await json(['publish', '--allow-widen'])
    const expected = { breaking: true, required: 'major', changes: [{ kind: 'authority.widened' }] }
    const two = ['acme.refund-desk@1.0.0', 'acme.refund-desk@2.0.0']
    expect(await json(['versions', 'diff', ...two])).toMatchObject(expected)
    expect(await json(['versions', 'diff', ...two.toReversed()])).toMatchObject({
      breaking: false,
      changes: [{ kind: 'authority.narrowed' }],
    })
    const { files, ...told } = await json<{ files: { path: string; change: string }[] }>([
      'bundle',
      'diff',
      `${cwd}-before`,
      '.',
    ])
    expect(told).toMatchObject(expected)
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'changed agents/refund-desk.yaml',
      'changed policies/refund-limit.yaml',
      'changed policies/small-refunds.yaml',
    ])
    expect(await json(['bundle', 'diff', '--against', 'acme.refund-desk@1.0.0'])).toMatchObject(expected)
    expect(await json(['bundle', 'diff', '--against', 'acme.refund-desk@2.0.0'])).toEqual({
      breaking: false,
      widens: false,
      required: null,
      changes: [],
    })
  })

  test('--fail-on breaking ends with 1, and the answer is printed', async () => {
    await json(['bundle', 'pack', '-o', 'before.tgz'])
    raiseLimit('2.0.0')
    const { code, stdout, stderr } = await svc(['bundle', 'diff', 'before.tgz', '.', '--fail-on', 'breaking'])
    expect(code).toBe(1)
    const digest = 'sha256:[0-9a-f]{64}'
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(
        /^authority\.widened\twider\tacme\.refund-desk\tacme\.refunds: .*\tpolicies\/.*\.yaml:\d+$/,
      ),
      ...['agents/refund-desk', 'policies/refund-limit', 'policies/small-refunds'].map(
        (path) => expect.stringMatching(new RegExp(`^file\tchanged\t${path}\\.yaml\t${digest}\t${digest}$`)) as string,
      ),
    ])
    expect(stderr).toContain('1 change, 1 widens authority')
  })

  test('nothing to compare is a mistake of usage', async () => {
    expect((await svc(['bundle', 'diff'])).code).toBe(2)
    expect((await svc(['versions', 'diff', 'acme.refund-desk', 'acme.refund-desk@1.0.0'])).code).toBe(2)
  })
})

describe('archives', () => {
  test('are the same bytes again, are verified, and publish the same versions', async () => {
    const packed = await json<{ digest: string; size: number; documents: number }>(['bundle', 'pack', '-o', 'one.tgz'])
    expect(packed).toMatchObject({ file: 'one.tgz', digest: expect.stringMatching(/^sha256:/) as string })
    await json(['bundle', 'pack', '-o', 'two.tgz'])
    expect(Buffer.compare(readFileSync(join(cwd, 'one.tgz')), readFileSync(join(cwd, 'two.tgz')))).toBe(0)
    expect(await json(['bundle', 'verify', 'one.tgz'])).toMatchObject({
      ok: true,
      digest: packed.digest,
      root: 'acme.refund-desk',
    })
    await json(['publish'])
    const { published } = await json<Published>(['publish', 'one.tgz'])
    expect(published.length).toBeGreaterThan(3)
    expect(published.every(({ already }) => already)).toBe(true)
  })

  test('that are damaged fail', async () => {
    await json(['bundle', 'pack', '-o', 'one.tgz'])
    const bytes = readFileSync(join(cwd, 'one.tgz'))
    bytes[bytes.length - 2000]! ^= 1
    writeFileSync(join(cwd, 'two.tgz'), bytes)
    const { code, stdout, stderr } = await svc(['bundle', 'verify', 'two.tgz', '--json'])
    expect([code, stdout]).toEqual([1, ''])
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'bundle_invalid' } })
    expect((await svc(['publish', 'two.tgz'])).code).toBe(1)
    expect((await svc(['bundle', 'verify', 'none.tgz'])).code).toBe(5)
  })

  test('are held to the guardrails of the project that publishes them', async () => {
    await json(['bundle', 'pack', '-o', 'one.tgz'])
    writeFileSync(
      join(cwd, 'wall.yaml'),
      'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: wall, namespace: ops, version: 1.0.0 }\nspec:\n  scope: tool:acme.refunds\n  decision: { type: deny, reason: closed }\n',
    )
    const config = join(cwd, 'svc.config.yaml')
    writeFileSync(config, `${readFileSync(config, 'utf8')}\nguardrails: [wall.yaml]\n`)
    await json(['publish', 'one.tgz'])
    const snapshot = await json<{ policies: { entries: { policy: string; origin: { kind: string }[] }[] } }>([
      'versions',
      'show',
      'acme.refund-desk@1.0.0',
    ])
    expect(
      snapshot.policies.entries
        .filter(({ origin }) => origin.some(({ kind }) => kind === 'guardrail'))
        .map(({ policy }) => policy),
    ).toEqual(['ops.wall'])
  })

  test('the tree names every member, and what is only known at call time', async () => {
    const { root, nodes, edges } = await json<{
      root: string
      nodes: { id: string }[]
      edges: { from: string; to: string; kind: string }[]
    }>(['bundle', 'tree'])
    expect(root).toBe('acme.refund-desk')
    expect(nodes.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'acme.refund-desk',
        'acme.fraud-check',
        'acme.refunds',
        'acme.refund-limit',
        'schemas/input.json',
      ]),
    )
    expect(edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`)).toEqual(
      expect.arrayContaining([
        'acme.refund-desk tool acme.refunds',
        'acme.refund-desk agent acme.fraud-check',
        'acme.refund-desk policy acme.refund-limit',
      ]),
    )
    edit('agents/refund-desk.yaml', 'ref: agents/fraud-check.yaml', 'ref: acme.fraud-check\n      late_bound: true')
    expect((await svc(['bundle', 'tree'])).stdout).toContain('agent  acme.fraud-check  late bound, not in closure')
  })
})

describe('published members', () => {
  /** The desk without its own Tool: it must come from the store. */
  async function publishTools(): Promise<void> {
    await json(['publish', 'tools/refunds.yaml'])
    copyFileSync(join(cwd, 'tools/refunds.yaml'), join(parent, 'refunds.yaml'))
    edit('tools/refunds.yaml', 'to the customer of an order.', 'It cannot be undone.')
    version('tools/refunds.yaml', '1.0.1')
    await json(['publish', 'tools/refunds.yaml'])
    writeFileSync(join(cwd, 'tools/refunds.yaml'), '# moved to the registry\n')
  }
  const chosen = async (): Promise<string | undefined> =>
    (
      JSON.parse(readFileSync(join(cwd, 'svc.lock'), 'utf8')) as {
        members: { kind: string; id: string; version: string; origin: string }[]
      }
    ).members
      .filter(({ kind, id }) => kind === 'tool' && id === 'acme.refunds')
      .map(({ version, origin }) => `${origin} ${version}`)[0]

  test('a yanked version is not chosen, is kept where it is pinned, and comes back', async () => {
    await publishTools()
    await json(['compile'])
    expect(await chosen()).toBe('registry 1.0.1')
    expect(await json(['versions', 'yank', 'acme.refunds@1.0.1'])).toMatchObject({
      kind: 'Tool',
      id: 'acme.refunds',
      version: '1.0.1',
      yanked: true,
    })
    await json(['compile', '--check'])
    await json(['compile', '--update', 'acme.refunds'])
    expect(await chosen()).toBe('registry 1.0.0')
    await json(['versions', 'yank', 'acme.refunds@1.0.1', '--undo'])
    await json(['compile'])
    expect(await chosen()).toBe('registry 1.0.0')
    await json(['compile', '--update', 'acme.refunds'])
    expect(await chosen()).toBe('registry 1.0.1')
    expect((await svc(['compile', '--update', 'acme.none'])).code).toBe(2)
    expect((await svc(['versions', 'yank', 'acme.refunds@9.9.9'])).code).toBe(5)
  })

  test('a yanked agent version is not compared with, and its list says so', async () => {
    await json(['publish'])
    raiseLimit('2.0.0')
    await json(['publish', '--allow-widen'])
    await json(['versions', 'yank', 'acme.refund-desk@2.0.0'])
    const { items } = await json<{ items: { versionLabel: string; yanked: boolean }[] }>([
      'versions',
      'list',
      'acme.refund-desk',
    ])
    expect(items.map(({ versionLabel, yanked }) => [versionLabel, yanked])).toEqual([
      ['2.0.0', true],
      ['1.0.0', false],
    ])
    edit('prompts/refund-desk.md', '\n', '\nBe brief.\n')
    version('agents/refund-desk.yaml', '2.0.1', '2.0.0')
    const refused = await svc(['publish', '--json'])
    expect([refused.code, errorOf(refused).code]).toEqual([2, 'authority_widened'])
  })

  test('a yanked version is deployed only where a person or --allow-yanked says so, and its reason is shown', async () => {
    await json(['publish', '--deploy'])
    raiseLimit('2.0.0')
    await json(['publish', '--allow-widen'])
    const VERSION = 'acme.refund-desk@2.0.0'
    const REASON = 'pays some orders twice'
    const asked = await svc(['versions', 'yank', VERSION], { tty: true, answers: [REASON] })
    expect([asked.code, asked.stdout, asked.asked]).toEqual([
      0,
      `yanked ${VERSION}\n`,
      ['Reason, shown to whoever would deploy it (empty: none):'],
    ])
    const list = await svc(['versions', 'list', 'acme.refund-desk'])
    expect(list.stdout.split('\n').map((line) => line.split('\t').at(-1))).toEqual([REASON, '', ''])
    expect((await svc(['versions', 'show', VERSION])).stdout).toContain(`yanked\t${REASON}\n`)

    // Nobody can be asked, also not with --yes: it does not say that a withdrawn version is meant.
    for (const more of [[], ['--yes']]) {
      const refused = await svc(['deploy', VERSION, ...more, '--json'])
      expect([refused.code, errorOf(refused)]).toMatchObject([
        2,
        { code: 'version_yanked', message: `${VERSION} is yanked (${REASON}), so it is not deployed unasked.` },
      ])
    }
    const again = await svc(['publish', '--deploy', '--json'])
    expect([again.code, errorOf(again).message]).toEqual([
      2,
      `${VERSION} is yanked (${REASON}), so it is not deployed unasked.`,
    ])
    const no = await svc(['deploy', VERSION], { tty: true, answers: [false] })
    expect([no.code, no.stdout, no.stderr, no.asked]).toEqual([
      0,
      '',
      `${VERSION} is yanked: ${REASON}\nnothing changed\n`,
      ['Deploy it all the same?'],
    ])
    const yes = await svc(['deploy', VERSION], { tty: true, answers: [true] })
    expect([yes.code, yes.stdout]).toEqual([0, 'deployed acme.refund-desk 1.0.0 → 2.0.0\n'])
    await json(['deploy', 'acme.refund-desk@1.0.0', '--yes'])
    const flagged = await svc(['deploy', VERSION, '--allow-yanked'])
    expect([flagged.code, flagged.stdout, flagged.stderr]).toEqual([
      0,
      'deployed acme.refund-desk 1.0.0 → 2.0.0\n',
      `${VERSION} is yanked: ${REASON}\n`,
    ])
    await json(['versions', 'yank', VERSION, '--undo'])
    expect((await svc(['versions', 'yank', VERSION, '--undo', '--reason', 'x'])).code).toBe(2)
    await json(['deploy', 'acme.refund-desk@1.0.0', '--yes'])
    await json(['deploy', VERSION])
    expect((await svc(['versions', 'yank', VERSION, '--reason', 'x\ny'])).stderr).toContain(
      'must be one line of 1 to 300 characters without control characters',
    )
    await json(['versions', 'yank', VERSION, '--reason', REASON])
    expect((await svc(['versions', 'list', 'acme.refund-desk', '--json', '--jq', '.items[0].yankReason'])).stdout).toBe(
      `${JSON.stringify(REASON)}\n`,
    )
  })

  test('deploy goes forward and back', async () => {
    await json(['publish', '--deploy'])
    raiseLimit('2.0.0')
    await json(['publish', '--allow-widen'])
    expect(await json(['deploy', 'acme.refund-desk@2.0.0'])).toMatchObject({ from: '1.0.0', to: '2.0.0' })
    const back = await svc(['deploy', 'acme.refund-desk', '--rollback'], { tty: true, answers: [true] })
    expect([back.code, back.stdout]).toEqual([0, 'deployed acme.refund-desk 2.0.0 → 1.0.0\n'])
    expect((await svc(['deploy', 'acme.refund-desk', '--rollback'])).code).toBe(2)
    expect((await svc(['deploy', 'acme.refund-desk@7.0.0'])).code).toBe(5)
  })
})
