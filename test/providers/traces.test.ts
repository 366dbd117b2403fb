/** The trace of a run goes to every model as headers, and is no part of what is asked. */
import { expect, test } from 'vitest'
import { complete, requestWith } from './request.ts'
import { vendors } from './vendors.ts'

const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'rojo=1' }

test.each(vendors)('$type gets the trace as headers, and the same body as without', async (vendor) => {
  const fake = await vendor.start([{ say: 'Hello.' }])
  try {
    const provider = vendor.open(fake.url)
    const request = requestWith({ model: { provider: vendor.type, name: vendor.model } })
    await complete(provider, request)
    await complete(provider, { ...request, trace: TRACE })
    await complete(provider, { ...request, trace: TRACE, mayLeave: () => true })
    const sent = fake.requests.map(({ headers: { traceparent, tracestate } }) => ({ traceparent, tracestate }))
    expect(sent).toEqual([{}, TRACE, TRACE])
    expect(fake.requests[1]!.body).toEqual(fake.requests[0]!.body)
  } finally {
    await fake.close()
  }
})
