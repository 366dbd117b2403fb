/** A completion is held back where its guard says no: asked once the connection is open, and nothing is sent. */
import { expect, test } from 'vitest'
import { isHeldBack } from '../../src/base/net/transport.ts'
import { complete, requestWith } from './request.ts'
import { vendors } from './vendors.ts'

test.each(vendors)('$type asks the guard of each request, and sends nothing where it says no', async (vendor) => {
  const fake = await vendor.start([{ say: 'Hello.' }])
  try {
    const provider = vendor.open(fake.url)
    const asked: boolean[] = []
    const ask = (mayLeave: boolean) =>
      complete(provider, {
        ...requestWith({ model: { provider: vendor.type, name: vendor.model } }),
        mayLeave: () => {
          asked.push(mayLeave)
          return mayLeave
        },
      })
    const error: unknown = await ask(false).catch((each: unknown) => each)
    expect([isHeldBack(error), fake.requests.length]).toEqual([true, 0])
    expect((await ask(true)).completion.text).toBe('Hello.')
    expect([asked, fake.requests.length]).toEqual([[false, true], 1])
    expect(JSON.stringify(fake.requests[0]!.headers)).not.toContain('guard')
  } finally {
    await fake.close()
  }
})
