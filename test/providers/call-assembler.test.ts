import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCallAssembler } from '../../src/providers/reading/call-assembler.ts'
import { FormProblem } from '../../src/providers/reading/form-problem.ts'
import { callDialects, type DialectCall } from './call-dialects.ts'

/** Names that begin or repeat each other. */
const NAMES = ['find', 'find_all', 'nana', 'a', 'pay.refund', 'write']

/** Any list of calls, in any splitting of their arguments. */
const anyCalls: fc.Arbitrary<readonly DialectCall[]> = fc
  .array(
    fc.record({
      name: fc.constantFrom(...NAMES),
      args: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
      cuts: fc.array(fc.nat(40), { maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((calls) =>
    calls.map(({ name, args, cuts }, at) => ({ id: `call_${at}`, name, pieces: split(JSON.stringify(args), cuts) })),
  )

function split(text: string, cuts: readonly number[]): readonly string[] {
  const places = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].toSorted(
    (a, b) => a - b,
  )
  return places.slice(1).map((end, at) => text.slice(places[at], end))
}

describe.each(callDialects)('$name ($seen)', ({ write, hasNoIds }) => {
  test('any splitting of any list of calls gives the calls', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const assembler = createCallAssembler(new Set(NAMES))
        const added = write(calls).map((fragments) => assembler.add(fragments, 'tool_calls'))
        expect(
          assembler
            .calls()
            .map(({ id, name, arguments: json }) => ({ id: hasNoIds ? undefined : id, name, args: JSON.parse(json) })),
        ).toEqual(
          calls.map(({ id, name, pieces }) => ({
            id: hasNoIds ? undefined : id,
            name,
            args: JSON.parse(pieces.join('')),
          })),
        )
        expect(added.join('').length).toBeGreaterThan(0)
      }),
    )
  })
})

const assemble = (...events: object[][]) => {
  const assembler = createCallAssembler(new Set(['find', 'delete']))
  for (const each of events) assembler.add(each, 'tool_calls')
  return assembler.calls()
}
const fragment = (index: number, name: string, args: string, id?: string) => ({
  index,
  ...(id !== undefined && { id }),
  function: { name, arguments: args },
})

test('pieces of a name that nobody offered are never taken for a tool', () => {
  expect(assemble([fragment(0, 'safe_', '', 'a')], [fragment(0, 'delete', '{}')])).toEqual([
    { id: 'a', name: 'safe_delete', arguments: '{}' },
  ])
})

test('calls without arguments stay apart by their ids, and an id alone is no call', () => {
  expect(assemble([fragment(0, 'find', '', 'a')], [fragment(0, 'find', '', 'b')], [fragment(0, '', '', 'c')])).toEqual([
    { id: 'a', name: 'find', arguments: '' },
    { id: 'b', name: 'find', arguments: '' },
  ])
})

test('whole calls that share an id are calls of their own', () => {
  const [first, second] = ['{"q":1}', '{"q":2}'].map((args) => fragment(0, 'find', args, 'call_0'))
  expect(assemble([first!], [second!], [first!, second!])).toEqual([
    { id: 'call_0', name: 'find', arguments: '{"q":1}' },
    { id: 'call_0', name: 'find', arguments: '{"q":2}' },
  ])
})

test('calls of two tools without arguments, ids and places stay apart', () => {
  expect(assemble([fragment(0, 'find', '')], [fragment(0, 'delete', '')])).toEqual([
    { name: 'find', arguments: '' },
    { name: 'delete', arguments: '' },
  ])
})

test('a null among the calls takes no neighbour away', () => {
  expect(assemble([null as unknown as object, fragment(0, 'find', '{}', 'a')])).toEqual([
    { id: 'a', name: 'find', arguments: '{}' },
  ])
})

test('what is no call is named with its place', () => {
  expect(() => assemble([7 as unknown as object])).toThrow(new FormProblem('tool_calls[0]', 'is a number, not a call'))
  expect(() => assemble([{ function: { name: 'find', arguments: 7 } }])).toThrow(
    new FormProblem('tool_calls[0].function.arguments', 'is a number, neither text nor an object'),
  )
})
