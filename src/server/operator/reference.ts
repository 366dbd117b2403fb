/** GET /reference: the HTTP API as a page, for people who look at the operator's listener. */
import { createHash } from 'node:crypto'
import { readOpenApi } from '../http/openapi.ts'
import type { OperatorAction } from './people/act.ts'
import { REFERENCE_STYLE, writeReferencePage } from './reference-page.ts'

const STYLE_DIGEST = createHash('sha256').update(REFERENCE_STYLE).digest('base64')

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // The page loads and runs nothing; its only style is allowed by digest.
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
}

let page: Promise<string> | undefined

export const getReference: OperatorAction<'GET /reference'> = async () => ({
  status: 200,
  text: await (page ??= readOpenApi().then(writeReferencePage)),
  headers: HEADERS,
})
