/**
 * The one form in which an address may be shown. Whoever writes an address may have put a password into it, at its place or at
 * another one: only parts that are certainly something else are shown.
 */
import { parseUrl } from './parse-url.ts'

/** Parameters that say where something is. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set(['endpoint', 'host'])

export const UNREADABLE_ADDRESS = '(unreadable address)'

/** Scheme, host, port and path, and where the parameters `endpoint` and `host` lead; never a user, password or fragment. */
export function showAddress(text: string): string {
  const url = parseCertainAddress(text)
  if (!url) return UNREADABLE_ADDRESS
  const parameters = [...url.searchParams]
    .filter(([name]) => SHOWN_PARAMETERS.has(name))
    .map(([name, value]) => `${name}=${/[:@]/.test(value) ? showAddress(value) : value}`)
  const path = url.pathname === '/' && !text.endsWith('/') ? '' : url.pathname
  return `${url.protocol}//${url.host}${path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`
}

/** The address if its parts are certain: `//` and a host come first, and no `@`, which may end a password, comes later. */
export function parseCertainAddress(text: string): URL | undefined {
  const [, host, rest] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\\s]*)([/?#][^@\s\\]*)?$/i.exec(text) ?? []
  if (host === undefined || (host === '' && rest?.includes(':'))) return undefined
  return parseUrl(text)
}
