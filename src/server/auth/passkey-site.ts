import { fail } from '../../base/failure.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import type { ServerServices } from '../runtime/services.ts'

/** Where the console is, as browsers name it. */
export interface PasskeySite {
  readonly origin: string
  readonly rpId: string
}

/**
 * Where passkeys work: the console's address as it is configured, else this machine under a name, since a passkey belongs to a name and
 * never to a number.
 */
export function siteOf({ config, serverState: { consoleUrl } }: ServerServices): PasskeySite {
  if (consoleUrl === null) throw fail('console_off')
  const url = new URL(config.console?.url ?? consoleUrl)
  if (isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) url.hostname = 'localhost'
  return { origin: url.origin, rpId: url.hostname }
}
