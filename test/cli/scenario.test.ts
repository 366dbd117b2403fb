/** `svc test`: scenarios of a project, played in memory and in virtual time. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { svc as runSvc, temporary, type Ran } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const own = join(cwd, 'own')
const svc = (argv: readonly string[]): Promise<Ran> => runSvc(argv, { cwd })

/** Plays one scenario that stands alone in its directory. */
async function play(text: string, ...flags: string[]): Promise<Ran> {
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'one.scenario.yaml'), text)
  return await svc(['test', 'own', ...flags])
}

const LOOKUP = 'acme.orders.lookup: { result: { order: A-1042, status: delivered, damaged: true } }'
const REFUNDS = 'acme.refunds: { result: { order: A-1042, amount: 180, currency: EUR } }'
const scenario = (rest: string): string =>
  `scenario: a refund\nbundle: .\ninput: { order: A-1042, amount: 180 }\n${rest}`

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
})
afterEach(() => removeDirectory(own))
afterAll(remove)

describe('svc test', () => {
  test('plays the scenarios of the project, half an hour in no time', async () => {
    const { code, stdout, stderr } = await svc(['test'])
    expect(stdout).toBe(
      [
        'scenarios/again.scenario.yaml  ✔ a second run for the same order stops before it pays again',
        'scenarios/approve.scenario.yaml  ✔ a refund above the limit is paid after an approval',
        'scenarios/edited.scenario.yaml  ✔ an approver may lower the amount, and the policies decide about the new one',
        'scenarios/reject.scenario.yaml  ✔ a rejected refund is not paid, and the agent apologises',
        'scenarios/small.scenario.yaml  ✔ a refund up to the limit needs nobody',
        'scenarios/timeout.scenario.yaml  ✔ a refund that nobody approves within 30 minutes is denied  30 min (virtual)',
        'scenarios/two-approvers.scenario.yaml  ✔ a large refund is paid after two different people approved it  5 min (virtual)',
        '',
      ].join('\n'),
    )
    expect(stderr).toMatch(/^7 passed in .*, 0 network calls, \d+ scripted tokens\n$/)
    expect(code).toBe(0)
  })

  test('a double whose server asks first is answered by a person of the scenario', async () => {
    const asks = '{ message: Which?, requestedSchema: { type: object, properties: { which: { type: string } } } }'
    const { stdout, code } = await play(
      scenario(
        `tools:\n  acme.orders.lookup: { asks: ${asks}, result: { order: A-1042, status: delivered, damaged: true } }\n  ${REFUNDS}\n` +
          'decide: [{ task: text, tool: acme.orders.lookup, text: both }, { task: approval, approve: true }]\n',
      ),
    )
    expect([stdout, code]).toEqual(['own/one.scenario.yaml  ✔ a refund\n', 0])
  })

  test('--filter and --json tell events, differences and virtual time', async () => {
    const { stdout } = await svc(['test', '--filter', 'timeout', '--json'])
    const { ok, passed, failed, cases, runs } = JSON.parse(stdout) as {
      ok: boolean
      passed: number
      failed: number
      cases: { ok: boolean; virtualMs: number; events: { subject: string }[] }[]
      runs: { status: string }[]
    }
    expect({ ok, passed, failed }).toEqual({ ok: true, passed: 1, failed: 0 })
    expect(cases[0]).toMatchObject({ ok: true, virtualMs: 30 * 60_000, differences: [] })
    expect(cases[0]!.events.at(-1)!.subject).toBe('engine.session.completed')
    expect(runs).toEqual([expect.objectContaining({ status: 'Completed' })])
  })

  test('doubles replace handlers, with delays in virtual time', async () => {
    const { code, stdout } = await play(
      scenario(
        `tools:\n  ${LOOKUP}\n  acme.refunds: { result: { order: A-1042, amount: 180, currency: EUR }, delay: 5s }\n` +
          'decide: [{ task: approval, when: { field: args.amount, op: lte, value: 200 }, after: 10m, approve: true }]\n' +
          'expect: { output: { refunded: 180, currency: EUR }, subjects: [engine.session.started, engine.user_task.created, engine.session.completed] }\n',
      ),
    )
    expect(stdout).toBe('own/one.scenario.yaml  ✔ a refund  10 min 5 s (virtual)\n')
    expect(code).toBe(0)
    expect(existsSync(join(cwd, 'refunds.log'))).toBe(false)
  })

  test('recorded answers are given by arguments, in order, and nothing else is carried out', async () => {
    const answers = (amount: number) =>
      `[{ arguments: { order: A-1042, amount: ${amount}, currency: EUR }, result: { order: A-1042, amount: 180, currency: EUR } }]`
    const run = (double: string) =>
      play(
        scenario(
          `tools:\n  ${LOOKUP}\n  acme.refunds: { ${double} }\ndecide: [{ task: approval, approve: true }]\n` +
            'expect: { output: { refunded: 180, currency: EUR } }\n',
        ),
      )
    expect((await run(`answers: ${answers(180)}`)).code).toBe(0)
    expect((await run(`answers: ${answers(1)}`)).stdout).toContain('"refunded":0')
    // What is usual answers the other calls.
    const usual = 'result: { order: A-1042, amount: 180, currency: EUR }'
    expect((await run(`answers: ${answers(1)}, ${usual}`)).code).toBe(0)
  })

  test('an edited call runs as it was edited', async () => {
    const { code } = await play(
      scenario(
        'decide: [{ tool: acme.refunds, edit: { order: A-1042, amount: 120, currency: EUR } }]\n' +
          'expect: { output: { refunded: 120, currency: EUR }, calls: [{ tool: acme.refunds, arguments: { amount: 120 }, times: 1 }] }\n',
      ),
    )
    expect(code).toBe(0)
  })

  test('reports each difference with what was expected and what came', async () => {
    const { code, stdout } = await play(
      scenario(
        `tools:\n  ${LOOKUP}\n  ${REFUNDS}\ndecide: [{ task: approval, reject: no }]\n` +
          'expect:\n  output: { refunded: 180, currency: EUR }\n  calls: [{ tool: acme.refunds, times: 1 }]\n  decisions: [{ tool: acme.refunds, decision: deny }]\n',
      ),
    )
    expect(code).toBe(1)
    expect(stdout).toContain('✖ a refund')
    expect(stdout).toContain('    output: expected {"refunded":180,"currency":"EUR"}')
    expect(stdout).toContain(
      'got {"refunded":0,"currency":"EUR","message":"I am sorry, this refund was not approved."}',
    )
    expect(stdout).toContain('    calls: expected {"tool":"acme.refunds","times":1}')
    expect(stdout).toContain('    decisions: expected {"tool":"acme.refunds","decision":"deny"}')
  })

  test('an undecided task is named', async () => {
    const { code, stdout } = await play(scenario('expect: { output: { refunded: 180, currency: EUR } }\n'))
    expect(code).toBe(1)
    expect(stdout).toContain('undecided: approval of Refund 180 EUR for A-1042')
  })

  test('a task without a deadline that nobody answers is a failure', async () => {
    const { code, stdout } = await play(
      scenario(`tools:\n  ${LOOKUP}\n  acme.refunds: { drop: true }\ndecide: [{ task: approval, approve: true }]\n`),
    )
    expect(code).toBe(1)
    expect(stdout).toContain('run: nobody answers anomaly_review of Refund 180 EUR for A-1042')
  })

  test('an unknown outcome is answered by an operator', async () => {
    const { code } = await play(
      scenario(
        `tools:\n  ${LOOKUP}\n  acme.refunds: { drop: true }\n` +
          'decide:\n  - { task: approval, approve: true }\n  - { task: anomaly_review, option: skip }\n' +
          'expect: { status: Completed }\n',
      ),
    )
    expect(code).toBe(0)
  })

  test('an unknown key is an error with its line', async () => {
    const { code, stdout } = await play(scenario('expect:\n  statsu: Completed\n'))
    expect(code).toBe(1)
    expect(stdout).toContain('own/one.scenario.yaml:5:3 `statsu` is not a key of expect. Did you mean `status`?')
  })

  test('a bundle that is not there is named, with the directory from which its path counts', async () => {
    const { code, stdout } = await play(scenario('').replace('bundle: .', 'bundle: shpo'))
    expect(code).toBe(1)
    expect(stdout).toContain('No such bundle "shpo" below the directory of svc.config.yaml.')
  })

  test('runs before it have ended in the same workspace, with their own answers', async () => {
    const { code, stdout } = await play(
      scenario(
        `tools:\n  ${LOOKUP}\n  ${REFUNDS}\n` +
          'before:\n  - { input: { order: A-1042, amount: 180 }, decide: [{ task: approval, after: 20m, approve: true }] }\n' +
          'decide: [{ task: approval, reject: paid before }]\n' +
          'expect: { status: Completed, calls: [{ tool: acme.refunds, times: 0 }] }\n',
      ),
    )
    expect(stdout).toBe('own/one.scenario.yaml  ✔ a refund  20 min (virtual)\n')
    expect(code).toBe(0)
  })

  test('a run before it that cannot start or end is a failure that names it', async () => {
    const { stdout } = await play(
      scenario(
        `tools:\n  ${LOOKUP}\n  acme.refunds: { drop: true }\n` +
          'before: [{ input: { order: A-1042, amount: 40 } }]\nexpect: { status: Completed }\n',
      ),
    )
    expect(stdout).toContain('run: before[0]: nobody answers anomaly_review of Refund 40 EUR for A-1042')
    const refused = await play(scenario('before: [{ input: { order: 7 } }]\nexpect: { status: Completed }\n'))
    expect(refused.stdout).toContain('run: before[0]: The input does not match')
    const unknown = await play(scenario('before: [{ agent: acme.nobody }]\nexpect: { status: Completed }\n'))
    expect(unknown.stdout).toContain('before[0]: ')
    const empty = await play(scenario('before: [{ decide: [{ task: approval }] }]\n'))
    expect(empty.stdout).toContain('before[0].decide[0] answers nothing.')
  })

  test('another script may play the model', async () => {
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, 'model.yaml'), '- say: { refunded: 0, currency: EUR }\n')
    const { code } = await play(scenario('model: own/model.yaml\nexpect: { output: { refunded: 0, currency: EUR } }\n'))
    expect(code).toBe(0)
  })

  test('--bail ends with the first failure, and JUnit and TAP name it', async () => {
    const wrong = 'scenario: wrong\nbundle: .\ninput: { order: A-1, amount: 1 }\nexpect: { status: Failed }\n'
    const two = `${wrong}---\n${wrong}`
    expect((await play(two, '--format', 'tap', '--bail')).stdout).toMatch(/^TAP version 14\n1\.\.1\nnot ok 1 - own/)
    const { code, stdout } = await play(two, '--format', 'junit')
    expect(code).toBe(1)
    expect(stdout).toMatch(/<testsuites name="svc test" tests="2" failures="2" time="[\d.]+">/)
    expect(stdout).toContain('<failure message="status: expected &quot;Failed&quot;">')
  })

  test('where there is no scenario it ends with 5', async () => {
    expect(await svc(['test', 'policies'])).toMatchObject({ code: 5, stdout: '' })
  })
})

describe('svc test --update', () => {
  test('writes what came of the run where something else was expected, and keeps comments', async () => {
    const text = scenario(
      [
        `tools: { ${LOOKUP}, ${REFUNDS} }`,
        'decide: [{ task: approval, approve: true }]',
        'expect:',
        '  status: Failed # wrong',
        '  output: { refunded: 1 }',
        '  calls: [{ tool: acme.refunds, arguments: { amount: 1 } }]',
        '  decisions: [{ tool: acme.refunds, decision: deny }]',
        '',
      ].join('\n'),
    )
    const { code, stdout } = await play(text, '--update')
    expect([code, stdout]).toEqual([0, 'own/one.scenario.yaml  ✔ a refund\n'])
    const written = readFileSync(join(own, 'one.scenario.yaml'), 'utf8')
    expect(written.slice(written.indexOf('expect:'))).toBe(`expect:
  status: Completed # wrong
  output:
    refunded: 180
    currency: EUR
  calls:
    - tool: acme.refunds
      arguments:
        order: A-1042
        amount: 180
        currency: EUR
      times: 1
  decisions:
    - tool: acme.refunds
      decision: require_approval
      by: acme.refund-limit
`)
    expect((await svc(['test', 'own'])).code).toBe(0)
  })

  test('a run without an end still fails, and its file stays as it is', async () => {
    const text = scenario(`tools: { ${LOOKUP}, ${REFUNDS} }\nmodel: no-such-script.yaml\nexpect: { status: Failed }\n`)
    const { code } = await play(text, '--update')
    expect(code).toBe(1)
    expect(readFileSync(join(own, 'one.scenario.yaml'), 'utf8')).toBe(text)
  })
})

describe('svc test --record and --replay', () => {
  const doubles = scenario(
    `tools: { ${LOOKUP}, ${REFUNDS} }\ndecide: [{ task: approval, approve: true }]\nexpect: { output: { refunded: 180, currency: EUR } }\n`,
  )
  const tape = join(own, 'tapes/own/one.ndjson')

  test('what was recorded into a directory is played from it, without the tools that answered', async () => {
    expect((await play(doubles, '--replay', 'own/tapes', '--record')).code).toBe(0)
    expect(readFileSync(tape, 'utf8').trim().split('\n')).toHaveLength(7)
    const other = doubles.replace('{ order: A-1042, amount: 180, currency: EUR }', '{ never: asked }')
    expect(await play(other, '--replay', 'own/tapes')).toMatchObject({ code: 0 })
    expect((await play(other)).code).toBe(1)
  })

  test('a scenario that names its recording makes it with --record and plays it without', async () => {
    const text = doubles.replace('bundle: .', 'bundle: .\nmodel: { replay: own/refund.ndjson }')
    const missing = await play(text)
    expect([missing.code, missing.stdout]).toEqual([1, expect.stringContaining('Add --record to make it.')])
    expect((await play(text, '--record')).code).toBe(0)
    expect((await play(text)).code).toBe(0)
  })
})
