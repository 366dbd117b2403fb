/** The headers of W3C Trace Context: which are accepted, and what is passed on. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { below, beginTrace, parseTraceparent, readTraceContext, spanIdOf } from '../../src/base/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const GOOD = `00-${TRACE}-${SPAN}-01`

const read = (traceparent: string | undefined, tracestate?: string) =>
  readTraceContext(
    new Headers({ ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) }),
  )

test.each([
  [GOOD, GOOD],
  ['flags that nobody knows are not passed on', `00-${TRACE}-${SPAN}-fd`, `00-${TRACE}-${SPAN}-01`],
  ['not sampled', `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
  ['random trace id', `00-${TRACE}-${SPAN}-02`, `00-${TRACE}-${SPAN}-02`],
  ['a later version', `01-${TRACE}-${SPAN}-01`, GOOD],
  ['a later version with more parts', `cc-${TRACE}-${SPAN}-01-what-will-be`, GOOD],
])('%s is accepted', (...[, ...given]) => {
  const [sent, passed = sent] = given
  expect(read(sent)).toEqual({ traceparent: passed })
})

test.each([
  ['no header', undefined],
  ['nothing', ''],
  ['version ff', `ff-${TRACE}-${SPAN}-01`],
  ['version 00 with more parts', `${GOOD}-extra`],
  ['a later version whose flags go on', `01-${TRACE}-${SPAN}-01.extra`],
  ['upper case', GOOD.toUpperCase()],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a long span id', `00-${TRACE}-${SPAN}0-01`],
  ['no digits', `00-${TRACE}-${SPAN}-0g`],
  ['two headers', `${GOOD}, ${GOOD}`],
  ['a long one of a later version', `01-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`],
])('%s is no trace, and a tracestate alone is none', (_, sent) => {
  expect(read(sent, 'a=1')).toBeUndefined()
})

const long = 'v'.repeat(200)
test.each([
  ['as it is', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
  ['without empty members and spaces', ' rojo=1 ,, \tcongo=2 ', 'rojo=1,congo=2'],
  ['tenants', 'fw529a3039@dt=FfffffB', 'fw529a3039@dt=FfffffB'],
  ['nothing where a key is there twice', 'a=1,a=2', undefined],
  ['nothing where a key is malformed', 'a=1,B=2', undefined],
  ['nothing where a value is malformed', 'a=1,b=x=y', undefined],
  ['nothing where a value is empty', 'a=', undefined],
  ['nothing of more than 32 members', Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(','), undefined],
  ['without long members where it is too long', `a=1,b=${long},c=${long},d=${long},e=5`, 'a=1,e=5'],
  [
    'without the last members where it is still too long',
    Array.from({ length: 10 }, (_, at) => `k${at}=${'v'.repeat(100)}`).join(','),
    Array.from({ length: 4 }, (_, at) => `k${at}=${'v'.repeat(100)}`).join(','),
  ],
])('tracestate is passed on %s', (_, sent, passed) => {
  expect(read(GOOD, sent)).toEqual({ traceparent: GOOD, ...(passed !== undefined && { tracestate: passed }) })
})

test('whatever is sent: what is passed on is accepted again as it is, and is bounded', () => {
  const part = fc.constantFrom('00', '01', 'ff', TRACE, SPAN, '-', ',', '=', ' ', 'a', 'k=v', '0'.repeat(16), '@', 'é')
  const text = fc.array(fc.oneof(part, fc.string({ maxLength: 40 }))).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(text, fc.constant(GOOD)), text, (traceparent, tracestate) => {
      // A header takes bytes, and `get` trims.
      const bytes = (value: string): string => value.replaceAll(/[^\x20-\x7E]/g, '')
      const passed = read(bytes(traceparent), bytes(tracestate))
      if (!passed) return
      expect(passed.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
      expect(passed.tracestate?.length ?? 1).toBeLessThanOrEqual(512)
      expect(read(passed.traceparent, passed.tracestate)).toEqual(passed)
    }),
  )
})

test('a trace that begins here has the same ids whenever they are asked for, and another origin has others', () => {
  const first = beginTrace('run-1')
  expect(beginTrace('run-1')).toEqual(first)
  expect(parseTraceparent(first.traceparent)).toMatchObject({ flags: 1, spanId: spanIdOf('run-1') })
  expect(beginTrace('run-2').traceparent.slice(0, 35)).not.toBe(first.traceparent.slice(0, 35))
})

test('what a span requests keeps trace, flags and state, and names the span as its parent', () => {
  expect(below({ traceparent: `00-${TRACE}-${SPAN}-00`, tracestate: 'a=1' }, 'b7ad6b7169203331')).toEqual({
    traceparent: `00-${TRACE}-b7ad6b7169203331-00`,
    tracestate: 'a=1',
  })
})
