/** `svc policy eval`, `policy test` and `policy explain` of documents. Source: docs/design/policies.md#replay */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeIrreversible } from './desk.ts'
import { svc as run, temporary } from './recording-io.ts'

const { path, remove } = temporary()
const cwd = join(path, 'desk')
beforeAll(async () => {
  await run(['init', 'desk', '--full'], { cwd: path })
  makeIrreversible(cwd)
})
afterAll(remove)

const svc = (argv: readonly string[], stdin = '') => run(argv, { cwd, stdin })
const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
/** Where a document says something: `policies/refund-limit.yaml:11`. */
const line = (name: string, text: string): string => {
  const lines = readFileSync(join(cwd, `policies/${name}.yaml`), 'utf8').split('\n')
  return `policies/${name}.yaml:${lines.findIndex((each) => each.trim().startsWith(text)) + 1}`
}
const LIST = `apiVersion: svc/v1
kind: Policy
metadata: { name: currencies, namespace: acme, version: 1.0.0 }
spec:
  allow: [EUR, USD]
  decision: { type: allow, runtime: { svc/allow_field: args.currency } }
`
const REVERSIBLE = '{"tool":{"side_effect_class":"idempotent_write"}}'
const refund = (amount: unknown): string => JSON.stringify({ order: 'A-1', amount, currency: 'EUR' })
const evaluate = (...argv: string[]) => svc(['policy', 'eval', '--tool', 'acme.refunds', ...argv])

describe('svc policy eval', () => {
  test('reports decision, policy, comparison and what is owed in one line', async () => {
    expect(await evaluate('--args', refund(180))).toMatchObject({
      code: 0,
      stdout: 'require_approval  acme.refund-limit@1.0.0  args.amount > 100 (180)  approvals 1, after 30m deny\n',
      stderr: '',
    })
  })

  test('a call that nothing stops is reported with the policies that could have', async () => {
    const with40 = async (...policies: string[]): Promise<string> =>
      (
        await evaluate(
          '--args',
          refund(40),
          '--context',
          REVERSIBLE,
          ...policies.flatMap((name) => ['--policy', `policies/${name}.yaml`]),
        )
      ).stdout
    expect(await with40('refund-limit')).toBe(
      'allow  default for acme.refund-limit@1.0.0: condition false (40 > 100)\n',
    )
    expect(await with40('refund-limit', 'refund-ceiling')).toBe(
      'allow  default for acme.refund-ceiling@1.0.0: condition false (40 > 5000); acme.refund-limit@1.0.0: condition false (40 > 100)\n',
    )
  })

  test('arguments that a run would refuse before any policy are decided too, with a warning', async () => {
    const told = await evaluate('--args', '{"order":"A-1","amount":"40"}')
    expect(told.stdout).toMatch(/^deny  acme\.refund-ceiling@1\.0\.0  /)
    expect([told.code, told.stderr.split('\n')]).toEqual([
      0,
      [
        'acme.refunds does not take these arguments; a run refuses the call before any policy:',
        '  /currency: is required',
        '  /amount: must be number',
        '',
      ],
    ])
    const invalid = async (args: string): Promise<unknown> =>
      (JSON.parse((await evaluate('--args', args, '--json')).stdout) as { invalid: unknown }).invalid
    expect(await invalid('[]')).toEqual([{ path: '', message: 'must be a JSON object' }])
    expect(await invalid(refund(40))).toEqual([])
  })

  test('--explain draws each tree with values, truths, documents and lines, and what would change the outcome', async () => {
    const { stdout } = await evaluate('--args', refund(180), '--explain')
    expect(stdout.split('\n').slice(1)).toEqual([
      `  · acme.refund-ceiling@1.0.0  deny  false   ${line('refund-ceiling', 'decision:')}`,
      `      args.amount > 5000   180 > 5000   false   ${line('refund-ceiling', 'field:')}`,
      `  ● acme.refund-limit@1.0.0  require_approval  true   ${line('refund-limit', 'decision:')}`,
      `      args.amount > 100   180 > 100   true   ${line('refund-limit', 'field:')}`,
      `  · acme.small-refunds@1.0.0  allow  false   ${line('small-refunds', 'decision:')}`,
      `      args.amount <= 100   180 <= 100   false   ${line('small-refunds', 'field:')}`,
      '  allow if args.amount <= 100',
      '  deny if args.amount > 5000',
      '',
    ])
  })

  test('--json has the decision, who took it and the trace', async () => {
    const { stdout } = await evaluate('--args', refund('40'), '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      decision: 'deny',
      approvalsRequired: null,
      timeout: null,
      by: {
        policy: 'acme.refund-ceiling',
        version: '1.0.0',
        pointer: '/spec/decision',
        source: line('refund-ceiling', 'decision:'),
      },
      trace: [
        { policy: 'acme.refund-ceiling', node: 'conditions', op: 'gt', left: '40', right: 5000, result: 'unknown' },
        { policy: 'acme.refund-limit', node: 'conditions', op: 'gt', left: '40', right: 100, result: 'unknown' },
        { policy: 'acme.small-refunds', node: 'conditions', op: 'lte', left: '40', right: 100, result: 'unknown' },
      ],
      considered: [
        { policy: 'acme.refund-ceiling', decision: 'deny', result: 'unknown', fired: true },
        { policy: 'acme.refund-limit', decision: 'require_approval', result: 'unknown', fired: true },
        { policy: 'acme.small-refunds', decision: 'allow', result: 'unknown', fired: false },
      ],
    })
  })

  test('a list that decides is reported with the value it saw, not as `always`', async () => {
    write('policies/list.yaml', LIST)
    const asked = (currency: string) =>
      svc([
        'policy',
        'eval',
        '--policy',
        'policies/list.yaml',
        '--tool',
        'acme.refunds',
        '--explain',
        '--args',
        currency,
      ])
    expect((await asked('{"currency":"GBP"}')).stdout).toBe(
      [
        'deny  acme.currencies@1.0.0  args.currency not in EUR, USD ("GBP")',
        '  ✖ acme.currencies@1.0.0  allow  args.currency not in EUR, USD ("GBP")   policies/list.yaml:6',
        '',
      ].join('\n'),
    )
    expect((await asked('{"currency":"EUR"}')).stdout).toContain('args.currency in EUR, USD ("EUR")')
    rmSync(join(cwd, 'policies/list.yaml'))
  })

  test('--expect that differs is reported on stderr and exits 1', async () => {
    expect(await evaluate('--args', refund(40), '--expect', 'require_approval')).toMatchObject({
      code: 1,
      stdout: 'allow  acme.small-refunds@1.0.0  args.amount <= 100 (40)\n',
      stderr: 'expected require_approval\n',
    })
  })

  test('where nothing fires the class decides, by default', async () => {
    const { stdout } = await svc([
      'policy',
      'eval',
      '--tool',
      'acme.orders.lookup',
      '--args',
      '{"order":"A-1"}',
      '--json',
    ])
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'allow', by: { policy: 'default', version: null } })
  })

  const policy = (name: string, spec: string): string =>
    `apiVersion: svc/v1\nkind: Policy\nmetadata: { name: ${name}, namespace: acme, version: 2.0.0 }\nspec:\n${spec}\n`

  test('--policy replaces the policy of its name, or stands alone without an agent', async () => {
    write(
      '../strict.yaml',
      policy('refund-limit', '  conditions: { field: amount, op: gt, value: 10 }\n  decision: { type: escalate }'),
    )
    const agent = await evaluate('--agent', 'acme.refund-desk', '--policy', '../strict.yaml', '--args', refund(40))
    const alone = await evaluate('--policy', '../strict.yaml', '--args', refund(5))
    const directory = await evaluate('--agent', 'bundle.yaml', '--args', refund(5))
    expect(agent.stdout).toBe('escalate  acme.refund-limit@2.0.0  args.amount > 10 (40)  approvals 1\n')
    // Refunds cannot be undone, and no policy here grants them.
    expect(alone.stdout).toContain('require_approval  default  ')
    expect(directory.stdout).toBe('allow  acme.small-refunds@1.0.0  args.amount <= 100 (5)\n')
  })

  test.each([
    ['{"run":{"taint":true}}', 'deny'],
    ['{}', 'allow'],
    ['{"history":{"run":{"this_tool":{"total(amount)":900}}}}', 'deny'],
    ['{"history":{"run.this_tool.total(args.amount)":null}}', 'deny'],
    ['{"time":{"now":"2026-11-21T12:00:00Z"}}', 'deny'],
    // By path, as the witness of a diff tells it.
    ['{"run.taint":true}', 'deny'],
    ['{"run.taint":false,"run":{"depth":1}}', 'allow'],
    ['{"history.run.this_tool.total(args.amount)":501}', 'deny'],
    ['{"svc.dispatch.trigger":"timeout","principal.trigger_name":null}', 'deny'],
    ['{"history.window.this_tool.attempts (10m)":4,"history.window.this_tool.attempts (1h)":9}', 'allow'],
    ['{"history.window.this_tool.attempts (10m)":6}', 'deny'],
    ['{"history.window.this_tool.attempts":6}', 'deny'],
  ])('--context %s: %s', async (context, decision) => {
    write(
      '../situation.yaml',
      policy(
        'situation',
        [
          '  scope: tool:acme.orders.lookup',
          '  conditions:',
          '    any:',
          '      - { field: run.taint, value: true }',
          '      - { field: history.run.this_tool.total(args.amount), op: gt, value: 500 }',
          '      - { field: time.now, op: within, value: { days: [sat, sun], tz: UTC } }',
          '      - { field: svc.dispatch.trigger, value: timeout }',
          '      - { field: history.window.this_tool.attempts, op: gt, value: 5, window: 10m }',
          '  decision: { type: deny }',
        ].join('\n'),
      ),
    )
    const argv = [
      'policy',
      'eval',
      '--policy',
      '../situation.yaml',
      '--tool',
      'acme.orders.lookup',
      '--args',
      '{"amount":40}',
    ]
    const known = JSON.parse(context) as object
    const given = JSON.stringify({ time: { now: '2026-11-20T12:00:00Z' }, ...known })
    const { code, stdout } = await svc([...argv, '--context', given, '--expect', decision])
    expect([code, stdout.split(' ')[0]]).toEqual([0, decision])
  })

  test('a context that does not exist is refused with what is near', async () => {
    expect(await evaluate('--args', '{}', '--context', '{"run":{"tainted":true}}')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Did you mean run.taint?') as string,
    })
    expect(await evaluate('--args', '{}', '--context', '{"run.tainted":true}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean run.taint?') as string,
    })
    expect(await svc(['policy', 'eval', '--tool', 'acme.refnds'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Did you mean acme.refunds?') as string,
    })
  })
})

describe('svc policy test', () => {
  test('the tests of the template pass and see every truth of every comparison', async () => {
    expect(await svc(['policy', 'test', '--coverage', '100'])).toMatchObject({
      code: 0,
      stdout: 'policies/refund.policytest.yaml   7 passed\n',
      stderr: expect.stringMatching(/^7 passed \(.*\) · coverage 100%\n$/) as string,
    })
  })

  const cases = (calls: string): string =>
    `policies: [policies/refund-limit.yaml, acme.small-refunds]\ncalls:\n${calls}\n`

  test('a failure reports what was expected, what came, and the comparisons with their lines', async () => {
    write(
      'one.policytest.yaml',
      cases(
        '  - { name: exactly 100 is held, tool: acme.refunds, args: { amount: 100 }, expect: deny, by: acme.refund-limit, approvals: 2 }',
      ),
    )
    const { code, stdout } = await svc(['policy', 'test', 'one.policytest.yaml'])
    expect([code, stdout.split('\n')]).toEqual([
      1,
      [
        'FAIL one › exactly 100 is held',
        '  expected deny   got allow',
        '  expected by acme.refund-limit   got acme.small-refunds@1.0.0',
        '  expected approvals 2   got 0',
        `  args.amount > 100   100 > 100   false   ${line('refund-limit', 'field:')}`,
        `  args.amount <= 100   100 <= 100   true   ${line('small-refunds', 'field:')}`,
        '',
      ],
    ])
  })

  test('--json has the cases and the coverage of policies, and coverage below the minimum exits 1', async () => {
    write('two.policytest.yaml', cases('  - { tool: acme.refunds, args: { amount: 100 }, expect: allow }'))
    const { code, stdout } = await svc(['policy', 'test', 'two.policytest.yaml', '--coverage', '50', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      passed: 1,
      failed: 0,
      coverage: {
        percent: 33,
        policies: [
          {
            id: 'acme.refund-limit@1.0.0',
            nodes: 3,
            covered: 1,
            leaves: [
              {
                node: 'conditions',
                text: 'args.amount > 100',
                source: line('refund-limit', 'field:'),
                missing: ['true', 'unknown'],
              },
            ],
          },
          {
            id: 'acme.small-refunds@1.0.0',
            nodes: 3,
            covered: 1,
            leaves: [
              {
                node: 'conditions',
                text: 'args.amount <= 100',
                source: line('small-refunds', 'field:'),
                missing: ['false', 'unknown'],
              },
            ],
          },
        ],
      },
      cases: [
        {
          name: 'acme.refunds {"amount":100}',
          file: 'two.policytest.yaml',
          ok: true,
          expected: { decision: 'allow' },
          actual: { decision: 'allow', by: 'acme.small-refunds@1.0.0', approvals: null },
          trace: [
            {
              policy: 'acme.refund-limit',
              node: 'conditions',
              op: 'gt',
              left: 100,
              right: 100,
              result: 'false',
              source: line('refund-limit', 'field:'),
            },
            {
              policy: 'acme.small-refunds',
              node: 'conditions',
              op: 'lte',
              left: 100,
              right: 100,
              result: 'true',
              source: line('small-refunds', 'field:'),
            },
          ],
          failure: [],
        },
      ],
    })
  })

  test('a filter that chooses nothing is a mistake, which names what there is', async () => {
    write(
      'two.policytest.yaml',
      cases('  - { name: at the limit, tool: acme.refunds, args: { amount: 100 }, expect: allow }'),
    )
    expect(await svc(['policy', 'test', 'two.policytest.yaml', '--filter', 'border'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error[usage]: No test has "border" in its file or name.\n  fix:  There are: at the limit.\n',
    })
    expect(await svc(['test', '--filter', 'border', '--json'])).toMatchObject({ code: 2, stdout: '' })
  })

  test('--update writes what is decided and keeps the rest of the file', async () => {
    const text = (expected: string) =>
      `# about refunds\nagent: acme.refund-desk\ncalls:\n  - tool: acme.refunds # the only one\n    args: { order: A-1, amount: 180, currency: EUR }\n    expect: ${expected}\n`
    write('three.policytest.yaml', text('deny'))
    expect((await svc(['policy', 'test', 'three.policytest.yaml', '--update'])).code).toBe(0)
    expect(readFileSync(join(cwd, 'three.policytest.yaml'), 'utf8')).toBe(text('require_approval'))
  })

  test('other programs read JUnit XML and TAP', async () => {
    const junit = await svc(['policy', 'test', 'policies', '--filter', 'ceiling', '--format', 'junit'])
    expect(junit.stdout).toContain('<testsuites name="svc policy test" tests="2" failures="0"')
    const tap = await svc(['policy', 'test', 'policies', '--filter', 'nobody can help', '--format', 'tap'])
    expect(tap.stdout).toBe(
      'TAP version 14\n1..1\nok 1 - policies/refund.policytest.yaml › above the ceiling nobody can help\n',
    )
  })

  test.each([
    ['calls: []\n', 'doc/schema'],
    ['policies: [acme.small-refunds]\nbundle: .\ncalls: [{ tool: a.b, expect: allow }]\n', 'policies stand alone'],
    ['calls: [{ tool: acme.refunds, expects: allow }]\n', 'expect'],
    ['agent: acme.nobody\ncalls: [{ tool: acme.refunds, expect: allow }]\n', 'No such agent acme.nobody'],
    ['calls: [{ tool: acme.unknown, expect: allow }]\n', 'No such tool acme.unknown'],
  ])('a file that asks nothing sensible fails: %s', async (text, message) => {
    write('bad.policytest.yaml', text)
    const { code, stdout } = await svc(['policy', 'test', 'bad.policytest.yaml'])
    expect(code).toBe(1)
    expect(stdout).toContain(message)
  })

  test.each([
    'bundle: bundle.yaml',
    'bundle: ../bundle.yaml',
    'bundle: .',
    'bundle: ..',
    'policies: [refund-limit.yaml, small-refunds.yaml]',
  ])('what is tested is named from the project or from the test: %s', async (subject) => {
    write(
      'policies/named.policytest.yaml',
      `${subject}\ncalls: [{ tool: acme.refunds, args: { amount: 40 }, expect: allow }]\n`,
    )
    expect((await svc(['policy', 'test', 'policies/named.policytest.yaml'])).stdout).toBe(
      'policies/named.policytest.yaml   1 passed\n',
    )
  })

  test('without a test it says how to write one', async () => {
    expect(await svc(['policy', 'test', 'tools'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('svc schema policytest') as string,
    })
  })
})

describe('svc policy explain of documents', () => {
  test('a tool: the policies that concern it, and why', async () => {
    const { stdout } = await svc(['policy', 'explain', 'acme.refunds', '--json'])
    const { considered } = JSON.parse(stdout) as { considered: { policy: string; because: string[] }[] }
    expect(considered.map(({ policy, because }) => `${policy}: ${because.join(', ')}`).toSorted()).toEqual([
      'acme.refund-ceiling: binding',
      'acme.refund-limit: boundary refunds-above-limit, binding',
      'acme.small-refunds: binding',
    ])
  })

  test('a policy: the calls that it concerns', async () => {
    expect((await svc(['policy', 'explain', 'acme.small-refunds'])).stdout).toBe(
      `acme.refund-desk → acme.refunds   acme.small-refunds@1.0.0   allow   args.amount <= 100   binding   ${line('small-refunds', 'decision:')}\n`,
    )
  })

  test('a tool that no policy concerns, and one that there is not', async () => {
    expect((await svc(['policy', 'explain', 'acme.orders.lookup'])).stdout).toBe(
      'no policy concerns acme.orders.lookup; the side-effect class decides\n',
    )
    expect((await svc(['policy', 'explain', 'acme.nothing'])).code).toBe(5)
  })
})

describe('a sub-agent is decided about below those that delegate to it', () => {
  const below = join(path, 'below')
  const agent = (name: string, more: string): string =>
    `apiVersion: svc/v1\nkind: Agent\nmetadata: { name: ${name}, namespace: acme, version: 1.0.0${name === 'boss' ? ', governance: { authority_boundaries: [money] }' : ''} }\nspec:\n  purpose: Works.\n  instructions: { text: Work. }\n  model: { provider: auto, name: m }\n  limits: { max_loop_iterations: 3, max_subagent_depth: 3 }\n${more}`
  const files = {
    'svc.config.yaml': 'workspace: below\n',
    'bundle.yaml':
      'apiVersion: svc/v1\nkind: Bundle\nmetadata: { name: shop, namespace: acme, version: 1.0.0 }\nspec: { root: boss.yaml }\n',
    'boss.yaml': agent('boss', '  agents: [{ ref: clerk.yaml, description: Pays. }]\n'),
    'clerk.yaml': agent('clerk', '  tools: [{ ref: acme.pay@^1, policies: [acme.small] }]\n'),
    'pay.yaml':
      'apiVersion: svc/v1\nkind: Tool\nmetadata: { name: pay, namespace: acme, version: 1.0.0 }\nspec: { description: Pays., side_effect_class: irreversible_action, input_schema: { inline: { type: object, properties: { amount: { type: integer } }, required: [amount] } } }\n',
    'small.yaml':
      'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: small, namespace: acme, version: 1.0.0 }\nspec: { conditions: { field: amount, op: lte, value: 500 }, decision: { type: allow } }\n',
    'money.yaml':
      "apiVersion: svc/v1\nkind: Policy\nmetadata: { name: money, namespace: acme, version: 1.0.0 }\nspec: { scope: 'tool:acme.pay', conditions: { all: [{ field: amount, op: gt, value: 100 }, { field: run.depth, value: 1 }] }, decision: { type: escalate, authority_ref: money } }\n",
    'clerk.policytest.yaml':
      'agent: acme.clerk\ncalls:\n  - { tool: acme.pay, args: { amount: 200 }, expect: escalate, by: acme.money }\n  - { tool: acme.pay, args: { amount: 50 }, expect: allow, by: acme.small }\n  - { tool: acme.pay, args: { amount: 200 }, context: { run: { depth: 2 } }, expect: allow }\n',
  }
  beforeAll(() => {
    mkdirSync(below)
    for (const [name, text] of Object.entries(files)) writeFileSync(join(below, name), text)
  })
  const there = (...argv: string[]) => run(argv, { cwd: below })

  test('by eval and by test', async () => {
    const decided = await there(
      'policy',
      'eval',
      '--agent',
      'acme.clerk',
      '--tool',
      'acme.pay',
      '--args',
      '{"amount":200}',
    )
    expect(decided.stdout).toBe(
      'escalate  acme.money@1.0.0  args.amount > 100 (200) and run.depth == 1 (1)  approvals 1\n',
    )
    expect((await there('policy', 'test')).stdout).toBe('clerk.policytest.yaml   3 passed\n')
  })

  test('by the matrix, and where policies are reported', async () => {
    expect((await there('compile', '--matrix')).stdout.split('\n').slice(0, 4)).toEqual([
      'acme.clerk@1.0.0',
      '  acme.pay\tescalate\tacme.money@1.0.0\targs.amount > 100 and run.depth == 1',
      '  acme.pay\tallow\tacme.small@1.0.0\targs.amount <= 500',
      '  acme.pay\trequire_approval\tdefault\totherwise',
    ])
    expect((await there('policy', 'explain', 'acme.money')).stdout).toBe(
      'acme.clerk → acme.pay   acme.money@1.0.0   escalate   args.amount > 100 and run.depth == 1   boundary money, inherited from acme.boss   money.yaml:4\n',
    )
  })
})

describe('svc compile --explain', () => {
  test.each([['--matrix'], ['--explain', 'refunds-above-limit'], ['--check']])(
    'asked with %s writes no svc.lock',
    async (...asked) => {
      const lock = join(cwd, 'svc.lock')
      writeFileSync(lock, 'of another time\n')
      await svc(['compile', ...asked])
      const after = readFileSync(lock, 'utf8')
      rmSync(lock)
      expect(after).toBe('of another time\n')
    },
  )

  test('a boundary: the policies that stand for it, and the calls that they concern', async () => {
    const { code, stdout } = await svc(['compile', '--explain', 'refunds-above-limit'])
    expect([code, stdout]).toEqual([
      0,
      `acme.refund-desk → acme.refunds   acme.refund-limit@1.0.0   require_approval   args.amount > 100   boundary refunds-above-limit, binding   ${line('refund-limit', 'decision:')}\n`,
    ])
  })

  test('a boundary that nobody declares is reported with what is near', async () => {
    expect(await svc(['compile', '--explain', 'refunds-above-limits'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Did you mean refunds-above-limit?') as string,
    })
  })
})
