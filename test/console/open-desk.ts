/** The refund desk in a server of its own, closed after the test, and browsers that are signed in to it. */
import { afterEach } from 'vitest'
import { openRefundServer, type RefundServer } from '../../scripts/screens/refund-server.ts'
import { openPage, type OpenedPage } from './browser.ts'

let closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.reverse()) await close()
  closers = []
})

export async function openDesk(): Promise<RefundServer> {
  const desk = await openRefundServer()
  closeAfterTest(desk)
  return desk
}

export const closeAfterTest = (desk: RefundServer): void => void closers.push(() => desk.close())

/** Signs a browser in as a person with a credential. */
export async function openAs(desk: RefundServer, email: string, roles: readonly string[] = []): Promise<OpenedPage> {
  const { secret } = await desk.operator.call('POST /operator-keys', { body: { email, roles } })
  const opened = await openPage(desk.server.consoleUrl!)
  await opened.page.getByLabel('Credential').fill(secret)
  await opened.page.getByRole('button', { name: 'Sign in' }).click()
  await opened.page.getByRole('heading', { name: 'Inbox' }).waitFor()
  return opened
}
