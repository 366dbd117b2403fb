import type { JsonValue } from './generated/api.ts'

/** Clocks may differ, and a delivery may be slow; an older one may be a repetition by somebody else. */
const TOLERANCE_SECONDS = 5 * 60

/** A delivery that was not signed with the secret, or not now. */
export class SvcWebhookError extends Error {
  override readonly name = 'SvcWebhookError'
}

/** Headers of a request: those of `fetch`, or an object of them, such as Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined }

/**
 * Verifies a delivery by the convention of Standard Webhooks: the signature over id, time and body, and a time within five
 * minutes of now. `webhook-id` is the
 * same for every try of a notice: whoever keeps those that were handled handles none twice.
 * @param secret of the sender, `whsec_` and base64
 * @param body the text as it came; a body that was parsed and written again has another signature
 * @returns the body, parsed
 * @throws SvcWebhookError
 */
export async function verifyWebhook(secret: string, headers: WebhookHeaders, body: string): Promise<JsonValue> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw new SvcWebhookError('The time of the delivery is not within five minutes of now.')
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const key = await crypto.subtle.importKey('raw', toBytes(secret.replace(/^whsec_/, '')), HMAC, false, ['verify'])
  for (const each of signatures.split(' ')) {
    const [version, signature = ''] = each.split(',')
    // The comparison takes the same time wherever they differ.
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, toBytes(signature), signed)))
      return JSON.parse(body) as JsonValue
  }
  throw new SvcWebhookError('No signature of the delivery is one of this secret.')
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' }

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = typeof headers['get'] === 'function' ? headers['get'](name) : (headers as Record<string, unknown>)[name]
  if (typeof value !== 'string' || value === '') throw new SvcWebhookError(`The delivery has no ${name}.`)
  return value
}

function toBytes(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))
  } catch {
    throw new SvcWebhookError('The secret or the signature is not base64.')
  }
}
