/** Every door says how an answer came through it. Source: docs/design/approvals.md#proofs */
import { expect, test } from 'vitest'
import type { MessageAccepted } from '../../src/spec/api.ts'
import type { DecisionOrigin } from '../../src/spec/people/decision-proof.ts'
import { signedIn } from '../console/browser-session.ts'
import { openWaitingRefund, type WaitingRefund } from './gated-desk.ts'
import { ask } from './running.ts'

type Answer = (refund: WaitingRefund, body: object) => Promise<MessageAccepted>

const credentialOf = async ({ server }: WaitingRefund): Promise<string> =>
  (await ask<{ secret: string }>(server.operator, 'POST /operator-keys', { email: 'bo@acme.example' })).secret

const inConsole = async (refund: WaitingRefund, key: string | undefined, body: object): Promise<MessageAccepted> => {
  const { send } = await signedIn(refund.server, key)
  return (await send(`POST /runs/${refund.runId}/messages`, { body })).body as never
}

const DOORS: readonly (readonly [door: string, origin: DecisionOrigin, words: string, answer: Answer])[] = [
  [
    'a key of the API',
    { channel: 'api', proof: 'key' },
    'over the API, with a key',
    async ({ post, runId }, body) =>
      (await post<MessageAccepted>(`/v1/runs/${runId}/messages`, { runId, ...body })).body,
  ],
  [
    'the operator channel',
    { channel: 'operator', proof: 'none' },
    'on the operator channel, with no proof',
    async ({ server, runId }, body) => ask(server.operator, `POST /runs/${runId}/messages`, body),
  ],
  [
    'the operator channel with a credential',
    { channel: 'operator', proof: 'key' },
    'on the operator channel, with a key',
    async (refund, body) => {
      const response = await refund.server.operator.fetch(
        new Request(`http://operator.svc/runs/${refund.runId}/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-operator-key': await credentialOf(refund) },
          body: JSON.stringify(body),
        }),
      )
      return (await response.json()) as MessageAccepted
    },
  ],
  [
    'a console that an address of svc console opened',
    { channel: 'console', proof: 'none' },
    'in the console, with no proof',
    (refund, body) => inConsole(refund, undefined, body),
  ],
  [
    'a console that was signed in to with a credential',
    { channel: 'console', proof: 'key' },
    'in the console, with a key',
    async (refund, body) => inConsole(refund, await credentialOf(refund), body),
  ],
]

test.each(DOORS)('%s', async (_, origin, words, answer) => {
  const refund = await openWaitingRefund()
  const { server, userTaskId, runId, get } = refund
  expect(await answer(refund, { userTaskId, approved: true })).not.toHaveProperty('error')
  const { items } = await get<{ items: { type: string; content: object }[] }>(`/v1/runs/${runId}/conversation`)
  expect(items.find(({ type }) => type === 'UserTaskRes')!.content).toMatchObject(origin)
  const { people } = await ask<{ people: object }>(server.operator, `GET /tasks/${userTaskId}`)
  expect(people).toMatchObject({ votes: [{ how: words }], decided: { outcome: 'approved', how: words } })
})

test.each(DOORS)('%s does not prove a passkey, and names the address that may', async (_, __, ___, answer) => {
  const refund = await openWaitingRefund('passkey')
  const { server, userTaskId } = refund
  const refused = await answer(refund, { userTaskId, approved: true })
  expect(refused).toMatchObject({ status: 'WaitingForHITL', code: 'proof_required' })
  expect(refused.error).toMatch(/^An approval of this task takes a passkey, and this one came with (no proof|a key)\. /)
  expect(refused.error).toContain(
    `Approve it in the console: ${server.consoleUrl!.replace('127.0.0.1', 'localhost')}/inbox/${userTaskId}?tab=all`,
  )
})
