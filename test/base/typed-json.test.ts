import { expect, test } from 'vitest'
import { fromJson, toJson } from '../../src/base/json/typed-json.ts'

interface Answer {
  readonly runId: string
  readonly taken?: number
  readonly parts: readonly { readonly text: string | null }[]
}

test('a value of an interface is JSON, and the same value', () => {
  const answer: Answer = { runId: 'r1', parts: [{ text: null }] }
  expect(toJson(answer)).toBe(answer)
  expect(toJson([answer])[0]).toBe(answer)
})

test('the type refuses what JSON cannot express, at any depth', () => {
  // @ts-expect-error A function has no JSON.
  toJson({ runId: 'r1', close: () => {} })
  // @ts-expect-error A date would become text.
  toJson({ parts: [{ at: new Date(0) }] })
  // @ts-expect-error A map would become an empty object.
  toJson({ known: new Map([['a', 1]]) })
  // @ts-expect-error A set would become an empty object.
  toJson({ known: new Set(['a']) })
  // @ts-expect-error JSON has no such number.
  toJson({ n: 1n })
})

test('a stored value is read as it is where it has its members, and refused where one is absent', () => {
  const stored = { runId: 'r1', parts: [] }
  expect(fromJson<Answer>(stored, 'runId', 'parts')).toBe(stored)
  expect(() => fromJson<Answer>({ runId: 'r1' }, 'runId', 'parts')).toThrow('A stored value lacks its member parts.')
  for (const other of [undefined, null, [], 'r1'])
    expect(() => fromJson<Answer>(other, 'runId')).toThrow('A stored value is no object.')
})
