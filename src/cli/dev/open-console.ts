/** Opens the console in a browser, with an address that signs it in. */
import { spawn } from 'node:child_process'
import type { OperatorClient } from '../../client/operator.ts'
import type { CommandContext } from '../shell/command.ts'

/** Prints the address as well: where no browser starts, a person opens it. @throws Failure `console_off` */
export async function openConsole({ out }: Pick<CommandContext, 'out'>, operator: OperatorClient): Promise<void> {
  const { url } = await operator.call('POST /console/codes', { body: undefined })
  out.message(`  console  ${url}`)
  openBrowser(url)
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // An empty title: `start` takes the first quoted argument for one.
  win32: ['cmd', '/c', 'start', '""'],
}

/** Starts the system's browser and does not wait for it. */
export function openBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  browser.on('error', () => undefined)
  browser.unref()
}
