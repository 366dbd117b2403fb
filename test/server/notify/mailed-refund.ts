/** A refund that waits, told by mail to ana and bo, who have credentials, and to a mailbox that is nobody's. */
import type { Clock } from '../../../src/base/clock.ts'
import type { Log } from '../../../src/base/log.ts'
import type { DecisionProof } from '../../../src/spec/people/decision-proof.ts'
import type { SideEffectClass } from '../../../src/spec/document.ts'
import type { ApprovalObligations } from '../../../src/spec/policy-set.ts'
import { waitUntil } from '../../wait-until.ts'
import { openWaitingRefund } from '../gated-desk.ts'
import { ask, options } from '../running.ts'
import { startMailServer } from './mail-server.ts'

export const PEOPLE = { ana: 'ana@acme.example', bo: 'bo@acme.example', list: 'finance@acme.example' }

interface GivenMail {
  readonly least?: DecisionProof
  readonly obligations?: ApprovalObligations
  readonly sideEffectClass?: SideEffectClass
  readonly email?: object
  readonly clock?: Clock
  readonly log?: Log
}

const LINK = /http:\/\/[\w.:]+\/decide\/[\w-]+/

export async function openMailedRefund({
  least,
  obligations,
  sideEffectClass = 'non_idempotent_write',
  email,
  clock,
  log,
}: GivenMail = {}) {
  const { port, received } = await startMailServer()
  const base = options()
  const refund = await openWaitingRefund(
    least,
    {
      ...(clock && { clock }),
      ...(log && { log }),
      config: {
        ...base.config,
        notify: {
          channels: {
            mail: {
              email: {
                server: { fromEnv: 'SMTP' },
                from: 'svc <svc@acme.example>',
                to: [PEOPLE.ana, PEOPLE.bo, PEOPLE.list],
                decide_within: '1h',
                ...email,
              },
              content: true,
              timeout: '30s',
            },
          },
          routes: [{ events: ['task.created'], to: ['mail'] }],
        },
      },
      env: { ...base.env, SMTP: `smtp://127.0.0.1:${port}` },
    },
    obligations,
    sideEffectClass,
  )
  const keys: Record<string, string> = {}
  for (const [person, roles] of [
    [PEOPLE.ana, ['treasurer']],
    [PEOPLE.bo, ['clerk']],
  ] as const) {
    const { keyId } = await ask<{ keyId: string }>(refund.server.operator, 'POST /operator-keys', {
      email: person,
      roles,
    })
    keys[person] = keyId
  }
  // The first refund waited before anybody had a credential.
  const { runId, userTaskId } = await refund.again()
  await waitUntil(async () => {
    const { items } = await ask<{ items: { state: string }[] }>(
      refund.server.operator,
      `GET /notices?task=${userTaskId}`,
    )
    return items.length > 0 && items.every(({ state }) => state === 'delivered')
  })
  const mails = received.filter(({ body }) => body.includes(userTaskId))
  const mailOf = (person: string) => mails.find(({ to }) => to.includes(person))!
  const linkOf = (person: string): string | undefined => LINK.exec(mailOf(person).body)?.[0]
  const answerOf = async () => {
    const { items } = await refund.get<{ items: { type: string; content: Record<string, unknown> }[] }>(
      `/v1/runs/${runId}/conversation`,
    )
    return items.find(({ type }) => type === 'UserTaskRes')?.content
  }
  const statusOf = async () =>
    (await ask<{ status: string }>(refund.server.operator, `GET /tasks/${userTaskId}`)).status
  return { ...refund, runId, userTaskId, keys, received, mails, mailOf, linkOf, answerOf, statusOf }
}

/** What a browser gets at an address, without one. */
export async function readPage(link: string, init: RequestInit = {}) {
  const response = await fetch(link, { headers: { accept: 'text/html' }, redirect: 'manual', ...init })
  const html = await response.text()
  return { status: response.status, headers: response.headers, html, text: wordsOf(html) }
}

/** What the form of the page sends, as a browser would send it. */
export const sendForm = (link: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  readPage(link, {
    method: 'POST',
    headers: {
      accept: 'text/html',
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(link).origin,
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  })

export const sealIn = (html: string): string => /name="seal" value="([^"]+)"/.exec(html)?.[1] ?? ''

const wordsOf = (html: string): string =>
  html
    .replace(/<head>.*<\/head>/s, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .trim()
