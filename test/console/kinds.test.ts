/**
 * Every kind of task in a real browser: options, texts, numbers, replies, roles and comprehension.
 * Source: docs/design/approvals.md#the-task
 */
import { expect, test } from 'vitest'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import type { ServerOptions } from '../../src/server/open.ts'
import type { Toolbox } from '../../src/tools/tool.ts'
import type { AgentSnapshot, BoundTool, ScriptTurn } from '../../src/spec/snapshot.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { builtin, policy } from '../engine/bench.ts'
import { snapshotOf } from '../server/fixtures.ts'
import { ask, DESK, publishDesk, tool } from '../server/running.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { newCode, openWithConsole } from './browser-session.ts'

interface Listed {
  readonly items: { readonly status: string; readonly kind: string }[]
}

/** A run that waits for what its script calls first, in a browser that shows the task. */
async function openTask(
  script: readonly ScriptTurn[],
  gate?: Partial<PolicyEntry>,
  {
    agent = {},
    refunds = {},
    standIn,
  }: {
    readonly agent?: Partial<AgentSnapshot>
    readonly refunds?: Partial<BoundTool>
    readonly standIn?: ServerOptions['standIn']
  } = {},
) {
  const server = await openWithConsole({ ...(standIn && { standIn }) })
  const tools = [
    builtin('request_input'),
    builtin('ask_user'),
    tool('acme.refunds', { sideEffectClass: 'idempotent_write', ...refunds }),
  ]
  const entry = gate && policy('gate', gate)
  const policies = sealSet({
    v: 1,
    compiler: 'test',
    agent: DESK,
    entries: entry ? [entry] : [],
    index: Object.fromEntries(tools.map(({ wire }) => [wire, entry && wire === 'refunds' ? [entry.id] : []])),
    inherited: [],
  })
  const snapshot = snapshotOf(DESK, '1.0.0', {
    model: { provider: 'scripted', name: 'script', script },
    tools,
    policies,
    ...agent,
  })
  await publishDesk(server.operator, {}, snapshot)
  const { runId, sessionId } = await ask<{ runId: string; sessionId: string }>(server.operator, 'POST /runs', {
    agent: DESK,
  })
  const pause = () => server.engine.waitForPause({ id: runId, sessionId } as never, AbortSignal.timeout(50_000))
  await pause()
  const { page } = await openPage(`${server.consoleUrl}/#code=${await newCode(server)}`)
  await page.getByRole('link', { name: /^All/ }).click()
  await page.locator('.item').first().click()
  await page.locator('.digest code').waitFor()
  const output = async () => {
    await pause()
    return (await ask<{ output: unknown }>(server.operator, `GET /v1/runs/${runId}`)).output
  }
  return { server, page, output, runId }
}

const request = (args: object): ScriptTurn[] => [
  { call: { tool: 'request_input', arguments: args as never } },
  { say: '${results.request_input}' },
]

const pay: ScriptTurn[] = [{ call: { tool: 'refunds', arguments: { amount: 180 } } }, { say: 'Done.' }]

describeInBrowser('a task', () => {
  test('that offers options is answered with one of them, and nothing is chosen before', async () => {
    const options = [
      { id: 'paper', label: 'Miller Paper, Hamburg' },
      { id: 'print', label: 'Miller Print, Munich' },
    ]
    const { page, output } = await openTask(request({ kind: 'multi_option', prompt: 'Which supplier?', options }))
    await page.getByText('Which supplier?').first().waitFor()
    const answer = page.getByRole('button', { name: 'Answer' })
    expect([await answer.isDisabled(), await page.getByRole('radio', { checked: true }).count()]).toEqual([true, 0])
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByLabel('Miller Print, Munich').check()
    await answer.click()
    await page.locator('.card.closed').waitFor()
    expect(JSON.stringify(await output())).toContain('print')
  })

  test('that asks for a number refuses others, and one out of bounds', async () => {
    const { page, output } = await openTask(request({ kind: 'number', prompt: 'How many cents?', min: 1, max: 500 }))
    for (const [typed, problem] of [
      ['1,5', 'That is not a number; use a point as decimal mark.'],
      ['501', 'The number goes from 1 to 500.'],
    ] as const) {
      await page.getByRole('textbox', { name: 'Number' }).fill(typed)
      await page.getByRole('button', { name: 'Answer' }).click()
      await page.getByText(problem).waitFor()
    }
    await page.getByRole('textbox', { name: 'Number' }).fill('119')
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.locator('.card.closed').waitFor()
    expect(JSON.stringify(await output())).toContain('119')
  })

  test('that asks for a text is answered with one', async () => {
    const { page, output } = await openTask(request({ kind: 'text', prompt: 'Under which number?' }))
    await page.getByRole('textbox', { name: 'Answer' }).fill('2026-121')
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.locator('.card.closed').waitFor()
    expect(JSON.stringify(await output())).toContain('2026-121')
  })

  test('that asks for understanding is approved by whoever types what the call says', async () => {
    const { page, output } = await openTask(pay, { obligations: { comprehension_required: true } })
    const approve = page.getByRole('button', { name: /^Approve/ })
    await page.getByText('Type amount as the call has it.').waitFor()
    expect(await approve.isDisabled()).toBe(true)
    await page.getByLabel('To approve, type amount').fill('18')
    expect(await approve.isDisabled()).toBe(true)
    await page.getByLabel('To approve, type amount').fill('180')
    await approve.click()
    await page.locator('.card.closed').waitFor()
    expect(await output()).toBe('Done.')
  })

  test('that a policy escalates is rejected with a reason', async () => {
    const { page, output } = await openTask(pay, { effect: 'escalate' })
    await page.getByText('Decision of an operator needed').first().waitFor()
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('button', { name: /^Reject/ }).click()
    await page.getByLabel('Reason').fill('Not this one.')
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.locator('.card.closed').waitFor()
    expect(await output()).toBe('Done.')
  })

  test('about an output that is not valid is answered with the output as it should be', async () => {
    const schema = { type: 'object', properties: { refunded: { type: 'number' } }, required: ['refunded'] }
    const { page, output } = await openTask([{ say: '{"refunded": "180"}' }], undefined, {
      agent: { output: { format: 'json', schema, strict: false, on_invalid: 'escalate' } },
    })
    const text = page.getByLabel('Output as it should be')
    expect(await text.inputValue()).toBe('{"refunded": "180"}')
    expect(await findingsOfAxe(page)).toEqual([])
    await text.fill('{"refunded": 180}')
    await page.getByRole('button', { name: /^Approve/ }).click()
    await page.locator('.card.closed').waitFor()
    expect(await output()).toEqual({ refunded: 180 })
  })

  test('about a call of unknown outcome is answered with what happened, and with its result', async () => {
    const { page, output } = await openTask(
      [{ call: { tool: 'refunds', arguments: { amount: 180 } } }, { say: '${results.refunds.id}' }],
      undefined,
      { refunds: { sideEffectClass: 'non_idempotent_write' }, standIn: withBrokenRefunds },
    )
    await page.getByText('What happened?').waitFor()
    const answer = page.getByRole('button', { name: 'Answer' })
    expect([await answer.isDisabled(), await page.getByRole('radio', { checked: true }).count()]).toEqual([true, 0])
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByLabel(/^It happened/).check()
    await page.getByLabel(/^Its result/).fill('{"id":"R-77"}')
    await answer.click()
    await page.locator('.card.closed').waitFor()
    expect(await output()).toBe('R-77')
  })

  test('for a role tells who lacks it, and offers no decision', async () => {
    const { page } = await openTask(pay, { obligations: { approver_role: 'treasurer' } })
    await page.getByText('needs the role treasurer').waitFor()
    await page.getByText('operator ana@acme.example does not have the role treasurer').waitFor()
    expect(await page.getByRole('button', { name: /Approve|Reject|Edit/ }).count()).toBe(0)
  })
})

/** The connection to the refunds breaks after each call was sent. */
const withBrokenRefunds = (tools: Toolbox): Toolbox => ({
  ...tools,
  route: (_, { id }) =>
    id === 'acme.refunds'
      ? {
          route: 'http',
          timeoutMs: 1000,
          invoke: async () => ({ at: 'unknown', code: 'broken', error: 'The connection broke.' }),
        }
      : undefined,
  describe: async () => undefined,
  findUnsetSecret: () => undefined,
  close: () => tools.close(),
})

describeInBrowser('a run that asks', () => {
  test('is replied to', async () => {
    const { page, output, server } = await openTask([
      { call: { tool: 'ask_user', arguments: { message: 'Which order is it?' } } },
      { say: 'Thank you.' },
    ])
    await page.getByText('Which order is it?').first().waitFor()
    await page.getByRole('textbox', { name: 'Reply' }).fill('A-7')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.item').waitFor({ state: 'detached' })
    expect(await output()).toBe('Thank you.')
    expect((await ask<Listed>(server.operator, 'GET /tasks')).items).toEqual([])
  })
})
