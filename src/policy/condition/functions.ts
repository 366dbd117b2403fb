/**
 * Functions of paths. Each returns undefined where it has no result, which makes the comparison unknown.
 * Source: docs/design/policies.md#paths-and-functions
 */
import { domainToASCII } from 'node:url'
import { foldIdentity } from '../../base/identity.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { PathFunction } from './path.ts'
import { textAfterLast } from '../../base/text/text-parts.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export const FUNCTIONS: Readonly<Record<PathFunction, (value: JsonValue) => JsonValue | undefined>> = {
  /** Characters of a string (code points, as JSON Schema counts) or elements of a list. */
  length: (value) => {
    if (Array.isArray(value)) return value.length
    return typeof value === 'string' ? Array.from(value).length : undefined
  },
  lower: (value) => (typeof value === 'string' ? value.toLowerCase() : undefined),
  /** One form of all spellings of a name: compatibility forms (NFKC), case, invisible characters, blanks around it. */
  fold: (value) => (typeof value === 'string' ? foldIdentity(value) : undefined),
  /** Host of an http(s) URL in lower case and punycode, without port, brackets and trailing dot. */
  host: (value) => {
    const url = typeof value === 'string' ? parseUrl(value) : undefined
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined
    return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') || undefined
  },
  /** Domain of one plain mail address, in lower case and punycode. */
  email_domain: (value) => {
    if (typeof value !== 'string' || !/^[^\s@"<>(),;:\\]+@[^\s@"<>(),;:\\[\]]+$/.test(value)) return undefined
    return domainToASCII(textAfterLast(value, '@')).replace(/\.$/, '').toLowerCase() || undefined
  },
}
