/** What a provider says of a sign-in that a person finishes in a browser elsewhere. Source: RFC 8628 */
import { safeText } from '../../base/text/escape-text.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { isProtectedAddress } from '../../tools/oauth/authorization-code.ts'
import { describeOauthError, type McpTokenError } from '../../tools/oauth/authorization-server.ts'

/** Source: RFC 8628, 3.2. */
export interface BegunDevice {
  readonly deviceCode: string
  readonly userCode: string
  readonly address: string
  readonly expiresInSeconds: number
  readonly intervalSeconds: number
}

/** The person has not finished. */
export interface UnfinishedDevice {
  /** The provider wants to be asked less often from now on. */
  readonly isTooFast: boolean
}

const LIFE = { usual: 600, most: 1800 }
const INTERVAL = { usual: 5, most: 60 }
const MOST_OF_CODE = 100

export function readBegunDevice(status: number, value: JsonObject): BegunDevice {
  const { device_code: deviceCode, user_code: userCode, verification_uri: plain } = value
  const { verification_uri_complete: complete = plain, expires_in: expiresIn, interval } = value
  const isWhole = typeof deviceCode === 'string' && typeof userCode === 'string' && typeof complete === 'string'
  if (!isWhole) throw new Error(describeOauthError(value) ?? `it answered ${status} without a code for this device`)
  if (!isProtectedAddress(complete)) throw new Error('its verification_uri is no https address')
  return {
    deviceCode,
    userCode: shortenText(safeText(userCode), MOST_OF_CODE),
    address: complete,
    expiresInSeconds: readSecondsWithin(expiresIn, LIFE),
    intervalSeconds: readSecondsWithin(interval, INTERVAL),
  }
}

function readSecondsWithin(given: JsonValue | undefined, { usual, most }: typeof LIFE): number {
  const seconds = Number(given ?? usual)
  return seconds > 0 ? Math.min(Math.max(seconds, 1), most) : usual
}

/** Undefined for a refusal. Source: RFC 8628, 3.5. */
export function readUnfinished({ oauthCode }: McpTokenError): UnfinishedDevice | undefined {
  if (oauthCode !== 'authorization_pending' && oauthCode !== 'slow_down') return undefined
  return { isTooFast: oauthCode === 'slow_down' }
}
