/** The refund desk in a server of its own, closed after the test, and browsers that are signed in to it. */
import { onTestFinished } from 'vitest'
import { openRefundServer, type RefundServer } from '../../scripts/screens/refund-server.ts'
import { openPage, type OpenedPage } from './browser.ts'

export async function openDesk(prepare?: (directory: string) => void): Promise<RefundServer> {
  const desk = await openRefundServer(prepare)
  closeAfterTest(desk)
  return desk
}

export const closeAfterTest = (desk: RefundServer): void => onTestFinished(() => desk.close())

/** Signs a browser in as a person with a credential. */
export async function openAs(desk: RefundServer, email: string, roles: readonly string[] = []): Promise<OpenedPage> {
  const { secret } = await desk.operator.call('POST /operator-keys', { body: { email, roles } })
  const opened = await openPage(desk.server.consoleUrl!)
  await opened.page.getByLabel('Credential').fill(secret)
  await opened.page.getByRole('button', { name: 'Sign in' }).click()
  await opened.page.getByRole('heading', { name: 'Inbox' }).waitFor()
  return opened
}
