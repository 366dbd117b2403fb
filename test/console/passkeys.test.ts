/** Passkeys in a real browser with a virtual device. Source: docs/design/approvals.md#passkeys */
import type { CDPSession, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openWaitingRefund, type WaitingRefund } from '../server/gated-desk.ts'
import { ask } from '../server/running.ts'
import { describeInBrowser, openPage } from './browser.ts'

interface Device {
  readonly page: Page
  /** What the device does when it is asked. */
  verifies(isVerified: boolean): Promise<void>
  /** Bodies of the approvals that the page sent. */
  readonly sent: Record<string, unknown>[]
}

/** A browser in which a person is signed in, with a device that keeps passkeys. */
async function openWithDevice(refund: WaitingRefund, email: string, about: object = {}): Promise<Device> {
  const { secret } = await ask<{ secret: string }>(refund.server.operator, 'POST /operator-keys', { email })
  const { page } = await openPage(refund.server.consoleUrl!.replace('127.0.0.1', 'localhost'))
  await page.getByLabel('Credential').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      ...about,
    },
  })
  const sent: Record<string, unknown>[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/messages')) sent.push(request.postDataJSON() as never)
  })
  return {
    page,
    sent,
    verifies: async (isUserVerified) =>
      void (await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
  }
}

async function addPasskey({ page }: Device, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Admin' }).click()
  await page.getByRole('link', { name: 'Passkeys' }).click()
  await page.getByLabel('Name of the device').fill(name)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('row', { name }).waitFor()
}

/** Holds the button until the page asks the device. */
async function approve({ page }: Device, userTaskId: string): Promise<void> {
  await page.goto(new URL(`/inbox/${userTaskId}`, page.url()).href)
  const button = page.getByRole('button', { name: 'Hold to approve with a passkey' })
  await button.click({ delay: 2500 })
}

const statusOf = async (refund: WaitingRefund, id: string) =>
  ask<{ status: string; people: { decided?: { how: string } } }>(refund.server.operator, `GET /tasks/${id}`)

/** The requests of a page, as a script in it could send them. */
const post = (page: Page, path: string, body: unknown): Promise<{ error?: string; code?: string }> =>
  page.evaluate(
    async ([to, sent]) => {
      const response = await fetch(to as string, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-svc-console': '1',
          'x-svc-page-key': localStorage.getItem('svc-page-key')!,
        },
        body: JSON.stringify(sent),
      })
      return (await response.json()) as { error?: string; code?: string }
    },
    [path, body],
  )

describeInBrowser('passkeys', () => {
  test('a passkey approves what the card shows, once, and for this task alone', async () => {
    const refund = await openWaitingRefund('passkey')
    const other = await refund.again()
    const device = await openWithDevice(refund, 'bo@acme.example')
    await addPasskey(device, 'laptop')
    await approve(device, refund.userTaskId)
    await device.page.getByText('with a passkey that cannot leave its device').first().waitFor()
    expect(await statusOf(refund, refund.userTaskId)).toMatchObject({
      status: 'completed',
      people: { decided: { how: 'in the console, with a passkey that cannot leave its device' } },
    })

    const [body] = device.sent
    const { metadata, userTaskId, ...rest } = body as { metadata: Record<string, unknown>; userTaskId: string }
    expect(userTaskId).toBe(refund.userTaskId)
    // What it signed approves no other task, with or without the digests of that task.
    const { 'svc/view_digest': _, 'svc/arguments_digest': __, ...bare } = metadata
    const moved = { ...rest, userTaskId: other.userTaskId, metadata: bare }
    expect(await post(device.page, `/runs/${other.runId}/messages`, moved)).toMatchObject({
      code: 'passkey_refused',
      error: 'The passkey does not count: its challenge is for something else.',
    })
    // Nor the same one again.
    expect(await post(device.page, `/runs/${refund.runId}/messages`, body)).toMatchObject({
      code: 'passkey_refused',
      error: 'The passkey does not count: its challenge was used before, or is older than five minutes.',
    })
    expect((await statusOf(refund, other.userTaskId)).status).toBe('pending')
  })

  test('at an IP address the screen says where passkeys work', async () => {
    const { server } = await openWaitingRefund('passkey')
    const { secret } = await ask<{ secret: string }>(server.operator, 'POST /operator-keys', {
      email: 'bo@acme.example',
    })
    const { page } = await openPage(server.consoleUrl!)
    await page.getByLabel('Credential').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goto(`${server.consoleUrl!}/passkeys`)
    const address = `${server.consoleUrl!.replace('127.0.0.1', 'localhost')}/passkeys`
    await page.getByText(`Passkeys do not work at an IP address: open ${address} and sign in there.`).waitFor()
    expect(await page.getByRole('link', { name: address }).getAttribute('href')).toBe(address)
  })

  test('a device that did not verify its person approves nothing', async () => {
    const refund = await openWaitingRefund('passkey')
    const device = await openWithDevice(refund, 'bo@acme.example')
    await addPasskey(device, 'laptop')
    await device.verifies(false)
    await approve(device, refund.userTaskId)
    await device.page.getByText('No passkey was used, so nothing was sent.').first().waitFor()
    expect(device.sent).toEqual([])
    expect((await statusOf(refund, refund.userTaskId)).status).toBe('pending')
  })

  test('a passkey that may be copied is none that cannot leave its device', async () => {
    const refund = await openWaitingRefund('hardware')
    const device = await openWithDevice(refund, 'bo@acme.example', {
      defaultBackupEligibility: true,
      defaultBackupState: true,
    })
    await addPasskey(device, 'phone')
    await approve(device, refund.userTaskId)
    await device.page
      .getByText('An approval of this task takes a passkey that cannot leave its device')
      .first()
      .waitFor()
    expect((await statusOf(refund, refund.userTaskId)).status).toBe('pending')
  })

  test('another passkey is added, and one is removed, with one that the person has', async () => {
    const refund = await openWaitingRefund('passkey')
    const device = await openWithDevice(refund, 'bo@acme.example')
    await addPasskey(device, 'laptop')
    // A person's credential in other hands, with a device of its own.
    const thief = await openWithDevice(refund, 'bo@acme.example')
    await thief.page.goto(new URL('/passkeys', thief.page.url()).href)
    await thief.page.getByLabel('Name of the device').fill('stolen')
    await thief.page.getByRole('button', { name: 'Add a passkey' }).click()
    await thief.page.getByText('No passkey was used, so nothing was sent.').first().waitFor()
    await thief.page.getByRole('button', { name: 'Remove' }).click()
    await thief.page.getByText('No passkey was used, so nothing was sent.').first().waitFor()
    const { items } = await ask<{ items: { name: string }[] }>(refund.server.operator, 'GET /passkeys')
    expect(items.map(({ name }) => name)).toEqual(['laptop'])
    await device.page.getByRole('button', { name: 'Remove' }).click()
    await device.page.getByText('Nobody has a passkey yet.').waitFor()
    const acts = await ask<{ items: { kind: string; by: string }[] }>(refund.server.operator, 'GET /acts')
    expect(acts.items.filter(({ kind }) => kind.startsWith('passkey.')).map(({ kind, by }) => [kind, by])).toEqual([
      ['passkey.removed', 'operator:bo@acme.example'],
      ['passkey.added', 'operator:bo@acme.example'],
    ])
  })
})
