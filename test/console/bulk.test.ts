/**
 * Several tasks decided in one review, and people who tell each other what they look at.
 * Source: docs/design/console.md#several-tasks-at-once
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import type { RefundServer } from '../../scripts/screens/refund-server.ts'
import { digestOfJson } from '../../src/base/digest.ts'
import { readInboxItem } from '../../src/view/task/task-content.ts'
import { describeTaskView } from '../../src/view/task/task-view.ts'
import { findingsOfAxe } from './axe.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { openAs, openDesk } from './open-desk.ts'

async function startAll(desk: RefundServer, amounts: readonly number[]): Promise<void> {
  for (const amount of amounts) await desk.start({ order: `A-${amount}`, amount })
}

/** Opens the card of an amount, and from it the list of those that ask the same. */
async function openReview(page: Page, amount: number): Promise<void> {
  await page.getByRole('link', { name: new RegExp(`Refund ${amount} EUR`) }).click()
  await page.locator('.digest code').waitFor()
  await page.keyboard.press('x')
  await page.getByRole('region', { name: 'Tasks' }).waitFor()
}

const cellsOf = async (page: Page): Promise<string[][]> => {
  const rows = await page.locator('table.bulk tbody tr').all()
  return await Promise.all(
    rows.map(async (row) => (await row.locator('td').allInnerTexts()).map((text) => text.split('\n')[0]!.trim())),
  )
}

/** Publishes and deploys the template with another class of the refund tool, and `runtime` keys in the policy. */
async function deployIrreversible(desk: RefundServer, runtime: string): Promise<void> {
  const policy = join(desk.directory, 'policies/refund-limit.yaml')
  const text = readFileSync(policy, 'utf8').replace(/    runtime:\n.*\n/, runtime)
  writeFileSync(policy, text)
  await desk.publish('1.1.0', {
    'tools/refunds.yaml': ['side_effect_class: non_idempotent_write', 'side_effect_class: irreversible_action'],
  })
  await desk.operator.call('POST /deploy', { body: { agent: 'acme.refund-desk', version: '1.1.0' } })
}

describeInBrowser('tasks that ask the same', () => {
  test('are approved in one review, each by a request with the digest of what was shown', async () => {
    const desk = await openDesk()
    await startAll(desk, [180, 190, 200, 1500])
    const { items } = await desk.operator.call('GET /tasks', { query: {} })
    const { page } = await openPage(await desk.address())
    const requests: { path: string; body: { userTaskId: string; metadata: Record<string, unknown> } }[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/messages'))
        requests.push({ path: new URL(request.url()).pathname, body: request.postDataJSON() })
    })
    await openReview(page, 180)
    expect((await page.locator('table.bulk th').allInnerTexts()).slice(1)).toEqual([
      'Task',
      'order',
      'amount',
      'currency',
      'For',
      'Result',
    ])
    expect((await cellsOf(page)).map((cells) => cells.slice(2, 5))).toEqual([
      ['"A-180"', '180', '"EUR"'],
      ['"A-190"', '190', '"EUR"'],
      ['"A-200"', '200', '"EUR"'],
    ])
    expect(await findingsOfAxe(page)).toEqual([])
    await page.getByRole('row', { name: /A-190/ }).getByRole('checkbox').uncheck()
    await page.getByRole('button', { name: 'Approve 2' }).click()
    await page.getByRole('row', { name: /A-200.*approved/ }).waitFor()
    expect((await cellsOf(page)).map((cells) => cells.at(-1))).toEqual(['approved', '', 'approved'])
    const taskOf = (amount: number) => items.find(({ args }) => (args as { amount: number }).amount === amount)!
    expect(requests).toEqual(
      [180, 200].map((amount) => ({
        path: `/runs/${taskOf(amount).runId}/messages`,
        body: {
          userTaskId: taskOf(amount).userTaskId,
          approved: true,
          metadata: {
            'svc/bulk': true,
            'svc/arguments_digest': taskOf(amount).argsDigest,
            'svc/view_digest': digestOfJson(describeTaskView(readInboxItem(taskOf(amount)))),
          },
        },
      })),
    )
    await page.getByRole('row', { name: /A-190/ }).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Reject 1' }).click()
    await page.getByLabel('Reason').fill('Sent back already.')
    await page.getByRole('button', { name: 'Reject 1' }).click()
    await page.getByRole('row', { name: /A-190.*rejected/ }).waitFor()
    const after = await desk.operator.call('GET /tasks', { query: { all: 'true' } })
    expect(
      Object.fromEntries(after.items.map(({ args, people }) => [(args as { order: string }).order, people?.decided])),
    ).toMatchObject({
      'A-180': { outcome: 'approved', by: 'operator ana' },
      'A-190': { outcome: 'rejected', by: 'operator ana', comment: 'Sent back already.' },
      'A-200': { outcome: 'approved', by: 'operator ana' },
      'A-1500': undefined,
    })
  })

  test('leave the list when somebody else was first, and none that arrives later is approved with them', async () => {
    const desk = await openDesk()
    await startAll(desk, [180, 190])
    const { page } = await openPage(await desk.address())
    const bo = await openAs(desk, 'bo@acme.example')
    await openReview(page, 180)
    await bo.page.getByRole('link', { name: /Refund 190 EUR/ }).click()
    await bo.page.getByRole('button', { name: /^Approve/ }).click()
    await page.getByRole('row', { name: /A-190.*decided or gone meanwhile/ }).waitFor()
    await desk.start({ order: 'A-210', amount: 210 })
    await page.getByText('1 more has arrived since.').waitFor()
    await page.getByRole('button', { name: 'Approve 1' }).click()
    await page.getByRole('row', { name: /A-180.*approved/ }).waitFor()
    const { items } = await desk.operator.call('GET /tasks', { query: {} })
    expect(items.map(({ args }) => (args as { order: string }).order)).toEqual(['A-210'])
  })

  test('are not approved together where the call cannot be undone and the policy does not say so', async () => {
    const desk = await openDesk()
    await deployIrreversible(desk, '')
    await startAll(desk, [180, 190])
    const { page } = await openPage(await desk.address())
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    await page.getByRole('link', { name: /1 more like this/ }).click()
    await page.getByText('2 are decided alone: its call cannot be undone, and no policy says svc/bulk: true.').waitFor()
    expect(await page.getByRole('button', { name: /Approve/ }).count()).toBe(0)
    expect(await findingsOfAxe(page)).toEqual([])
  })

  test('are approved by holding the button where the policy lets calls that cannot be undone be in a bulk', async () => {
    const desk = await openDesk()
    await deployIrreversible(desk, '    runtime:\n      svc/bulk: true\n')
    await startAll(desk, [180, 190])
    const { page } = await openPage(await desk.address())
    await openReview(page, 180)
    const approve = page.getByRole('button', { name: 'Hold to approve 2' })
    await approve.click()
    await page.getByText('These cannot be undone once they are sent.').waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    expect((await desk.operator.call('GET /tasks', { query: {} })).total).toBe(2)
    const { x, y, width, height } = (await approve.boundingBox())!
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down()
    await page.getByRole('row', { name: /A-190.*approved/ }).waitFor()
    await page.mouse.up()
    expect((await desk.operator.call('GET /tasks', { query: {} })).total).toBe(0)
  })

  test('have room at 320 pixels', async () => {
    const desk = await openDesk()
    await startAll(desk, [180, 190])
    const { page } = await openPage(await desk.address(), { viewport: { width: 320, height: 640 } })
    await openReview(page, 180)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  })
})

describeInBrowser('a claim', () => {
  test('is seen by others while it lasts, and keeps nobody from deciding', async () => {
    const desk = await openDesk()
    await startAll(desk, [180])
    const { page } = await openPage(await desk.address())
    const bo = await openAs(desk, 'bo@acme.example')
    await page.getByRole('link', { name: /Refund 180 EUR/ }).click()
    const [item] = (await desk.operator.call('GET /tasks', { query: {} })).items
    const claim = (leave: boolean) =>
      desk.operator.call('POST /tasks/:id/claim', { id: item!.userTaskId, body: { leave } })
    await claim(false)
    await page.locator('.card').getByText('you are looking').waitFor()
    await bo.page.locator('.item').getByText('operator ana is looking').waitFor()
    await bo.page.locator('.item').click()
    await bo.page.locator('.card').getByText('operator ana is looking').waitFor()
    await claim(true)
    await bo.page.locator('.card').getByText('operator ana is looking').waitFor({ state: 'detached' })
    expect(await page.locator('.card').getByText('The task has changed').count()).toBe(0)
    await page.getByRole('button', { name: /^Approve/ }).click()
    await bo.page.locator('.card.closed').waitFor()
    expect(await bo.page.getByText('looking').count()).toBe(0)
  })
})
