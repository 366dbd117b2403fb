/**
 * The grant `authorization_code` with PKCE, as far as it is the same for a consent and for a sign-in: where a browser is sent, and what it
 * brings back. Source: RFC 6749, 4.1; RFC 7636; RFC 9207; RFC 9700, 2.1.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { shortenText } from '../../base/text/cut-text.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import { describeOauthError, isSameIssuer, type AuthorizationServer } from './authorization-server.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

/** A person's answer could not be had. The message is a sentence that names who refuses what. */
export class ConsentError extends Error {
  override readonly name = 'ConsentError'
}

export interface CodeRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scope: string | undefined
  readonly state: string
  readonly verifier: string
  /** Parameters of this use alone. */
  readonly more: Readonly<Record<string, string>>
}

/** What a browser opens. */
export function addressOfCodeRequest(
  endpoint: string,
  { clientId, redirectUri, scope, state, verifier, more }: CodeRequest,
): string {
  const address = new URL(endpoint)
  for (const [key, value] of Object.entries({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope !== undefined && { scope }),
    ...more,
  }))
    address.searchParams.set(key, value)
  return address.href
}

/** What a person is asked for. */
type CodePurpose = 'consent' | 'sign-in'

/** @throws ConsentError */
export function readCodeEndpoint({ issuer, metadata }: AuthorizationServer, purpose: CodePurpose): string {
  const { authorization_endpoint: endpoint } = metadata
  if (typeof endpoint !== 'string' || parseUrl(endpoint) === undefined)
    throw new ConsentError(
      `The authorization server ${issuer} has no page on which a person could ${purpose.replace('-', ' ')}.`,
    )
  // A browser would run what follows `javascript:`, and others could read what is not encrypted.
  if (!isProtectedAddress(endpoint))
    throw new ConsentError(`The authorization server ${issuer} asks for ${purpose} at an address that is not https.`)
  return endpoint
}

/** True for https, and for this machine. */
export function isProtectedAddress(address: string): boolean {
  const url = parseUrl(address)
  if (url === undefined) return false
  const { protocol, hostname } = url
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** The code with which the browser came back. @throws ConsentError for an answer of another server, and for a refusal */
export function readCode(
  { issuer, metadata }: AuthorizationServer,
  answer: URLSearchParams,
  purpose: CodePurpose,
): string {
  const from = answer.get('iss')
  // Otherwise a code of one server could be taken to another. Source: RFC 9207, 2.4.
  if (from === null ? metadata['authorization_response_iss_parameter_supported'] === true : !isSameIssuer(from, issuer))
    throw new ConsentError(
      `The browser came back from ${from === null ? 'an unknown server' : shortenText(from, 200)}, and not from ${issuer}.`,
    )
  const refusal = describeOauthError(Object.fromEntries(answer))
  if (refusal !== undefined)
    throw new ConsentError(`The authorization server ${issuer} gives no ${purpose}: ${refusal}.`)
  const code = answer.get('code')
  if (code === null) throw new ConsentError(`The authorization server ${issuer} sent the browser back without a code.`)
  return code
}

/** Compares a value that a browser brought with the one that it was given. */
export function isSameValue(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((each) => createHash('sha256').update(each).digest()) as [Buffer, Buffer]
  return timingSafeEqual(a, b)
}
