/** A call that waits for a person is held, but neither beyond its server or its key, nor in any number. */
import { expect, test } from 'vitest'
import { serveClientDesk, type McpReply } from './post-mcp.ts'

const LONG = { 'svc/wait-seconds': 100 }
const atOf = ({ message }: McpReply) =>
  (message?.result?.['structuredContent'] as { status: string } | undefined)?.status

/** Resolves when so many calls ask a person: nothing tells of the request that is held. */
async function untilAsked(operator: (line: string) => Promise<{ total: number }>, count: number): Promise<void> {
  while ((await operator('GET /tasks')).total < count) await new Promise((resolve) => setTimeout(resolve, 20))
}

test('a server that ends answers the calls that it holds, with their handles', async () => {
  const { server, call, operator } = await serveClientDesk()
  const held = call('refunds', { amount: 5 }, LONG)
  await untilAsked(operator, 1)
  await server.close(20_000)
  expect((await held).message?.result?.['structuredContent']).toEqual({
    status: 'asking',
    handle: expect.any(String),
  })
})

test('the calls of a key that is revoked are held no longer', async () => {
  const { keyId, call, operator } = await serveClientDesk()
  const held = call('refunds', { amount: 5 }, LONG)
  await untilAsked(operator, 1)
  await operator(`POST /keys/${keyId}/revoke`, {})
  expect(atOf(await held)).toBe('asking')
})

test('a key has 100 calls held, and one more is answered at once', async () => {
  const { server, call, operator } = await serveClientDesk()
  const held = Array.from({ length: 100 }, (_, n) =>
    call('refunds', { amount: n }, { ...LONG, 'svc/conversation': `c-${n}` }),
  )
  await untilAsked(operator, 100)
  expect(atOf(await call('refunds', { amount: 100 }, LONG))).toMatch(/^(asking|working)$/)
  await server.close(20_000)
  expect((await Promise.all(held)).map(atOf)).toEqual(held.map(() => 'asking'))
})
