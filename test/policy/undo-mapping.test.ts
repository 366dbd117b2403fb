/** What the labels of a tool say about undoing its calls. Source: docs/design/steering.md#undo */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { readUndo, undoArguments } from '../../src/policy/undo-mapping.ts'

const labels = (by: string | undefined, mapped?: string) => ({
  ...(by !== undefined && { 'svc/undone-by': by }),
  ...(mapped !== undefined && { 'svc/undo-arguments': mapped }),
})

test.each([
  ['says nothing', labels(undefined), undefined],
  ['says that nothing undoes it', labels('none'), { none: true }],
  ['names a tool that takes no arguments', labels('acme.back'), { mapping: { tool: 'acme.back', arguments: {} } }],
  [
    'maps arguments',
    labels('acme.back', '{"id": "{result.id}"}'),
    { mapping: { tool: 'acme.back', arguments: { id: '{result.id}' } } },
  ],
])('a tool that %s', (_, given, expected) => {
  expect(readUndo(given)).toEqual(expected)
})

test.each([
  ['a mapping without a tool', labels(undefined, '{}'), 'svc/undo-arguments needs svc/undone-by.'],
  ['a mapping for nothing', labels('none', '{}'), 'svc/undone-by is none, so svc/undo-arguments maps nothing.'],
  ['a version', labels('acme.back@^1'), 'is neither a tool (namespace.name, without a version) nor none.'],
  ['a bare name', labels('back'), 'is neither a tool'],
  ['no JSON', labels('acme.back', '{id}'), 'svc/undo-arguments is a JSON object of at most 16,384 characters'],
  ['a list', labels('acme.back', '[]'), 'is a JSON object'],
  ['a number that would change', labels('acme.back', '{"n": 9007199254740993}'), 'is a JSON object'],
  ['a mapping that is too long', labels('acme.back', `{"a": "${'x'.repeat(17_000)}"}`), 'is a JSON object'],
  ['a lone brace', labels('acme.back', '{"a": "}"}'), 'has no partner'],
  ['a bare path', labels('acme.back', '{"a": "{order}"}'), '"order" is neither an argument nor a part of the result'],
  ['another root', labels('acme.back', '{"a": "{argsy.b}"}'), '"argsy.b" is neither'],
  ['every element', labels('acme.back', '{"a": ["{result.list[*]}"]}'), '"result.list[*]" is neither'],
])('refuses %s', (_, given, problem) => {
  expect((readUndo(given) as { problem: string }).problem).toContain(problem)
})

const fill = (mapped: JsonObject, args: JsonValue, result: JsonValue) =>
  undoArguments({ tool: 'acme.back', arguments: mapped }, { args, result })

test('a text that is one placeholder keeps the type of its value; in a longer text it is text', () => {
  const args = { n: 2, deep: { list: [true, { x: 'y' }] } }
  expect(
    fill(
      { n: '{args.n}', all: '{args}', at: ['{args.deep.list[1].x}'], said: 'No {args.n}, {result["odd key"]}', k: 5 },
      args,
      { 'odd key': 'z' },
    ),
  ).toEqual({ arguments: { n: 2, all: args, at: ['y'], said: 'No 2, z', k: 5 } })
})

test.each([
  [{ a: '{args.gone}' }, 'the recorded call has no args.gone'],
  [{ a: '{result.id}' }, 'the recorded call has no result.id'],
  [{ a: 'x {args.deep}' }, 'args.deep is no text or number that a text can hold'],
  [{ a: '{args.__proto__}' }, 'the recorded call has no args.__proto__'],
])('%j cannot be filled in: %s', (mapped, problem) => {
  expect(fill(mapped, { deep: {} }, 'done')).toEqual({ problem })
})

test('what stands in a value is never read as a placeholder', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (text, value) => {
      const args = { text: `{args.secret}${text}`, secret: 'no', value: value as JsonValue }
      expect(fill({ a: '<{args.text}>', b: '{args.value}' }, args, null)).toEqual({
        arguments: { a: `<${args.text}>`, b: args.value },
      })
    }),
  )
})
