import { expect, test } from 'vitest'
import {
  effectKeyOf,
  effectRepeatOf,
  effectWindowOf,
  readEffectTemplate,
} from '../../src/policy/condition/effect-key.ts'

const keyOf = (template: string, args: object) => effectKeyOf({ 'svc/effect-key': template }, args as never)

test.each([
  ['refund:{args.order}', { order: 'A-1' }, 'refund:A-1'],
  ['{args.a}:{args.b}', { a: 'x:y', b: 'z' }, 'x%3Ay:z'],
  ['{args.a}:{args.b}', { a: 'x', b: 'y:z' }, 'x:y%3Az'],
  ['k:{args.a}', { a: '50% {off}' }, 'k:50%25 %7Boff%7D'],
  ['k:{args.n}', { n: 180 }, 'k:180'],
  ['k:{args.n}', { n: '180' }, 'k:180'],
  ['k:{args.on}', { on: null }, 'k:null'],
  ['k:{args.to}', { to: { b: 1, a: [true] } }, 'k:{"a":[true],"b":1}'],
  ['k:{args.payee.iban}', { payee: { iban: 'DE02' } }, 'k:DE02'],
  ['k:{args["odd key"]}', { 'odd key': 'v' }, 'k:v'],
])('the key of %s with %j is %s', (template, args, key) => {
  expect(keyOf(template, args)).toEqual({ key, shown: key })
})

test('says which argument is missing, also where its parent is', () => {
  expect(keyOf('k:{args.payee.iban}', { payee: 'DE02' })).toEqual({ missing: 'args.payee.iban' })
  expect(keyOf('k:{args.order}', {})).toEqual({ missing: 'args.order' })
  expect(keyOf('k:{order}', { order: 'A' })).toEqual({ missing: 'k:{order}' })
  expect(effectKeyOf({}, {})).toBeUndefined()
})

test('keeps a key of 512 bytes whole, and of a longer one the digest', () => {
  expect(keyOf('k:{args.a}', { a: 'x'.repeat(510) })).toMatchObject({ key: `k:${'x'.repeat(510)}` })
  const long = keyOf('k:{args.a}', { a: 'x'.repeat(511) })
  expect(long).toEqual({ key: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), shown: `k:${'x'.repeat(94)}…` })
  expect(keyOf('k:{args.a}', { a: 'ü'.repeat(256) })).toMatchObject({ key: expect.stringMatching(/^sha256:/) })
})

test.each([
  ['', 'An effect key is not empty.'],
  ['a{', 'A brace of an effect key has no partner.'],
  ['a}', 'A brace of an effect key has no partner.'],
  ['{args.a', 'A brace of an effect key has no partner.'],
  ['{order}', '"order" is no argument; a placeholder is an argument path: {args.order}.'],
  ['{args}', '"args" is no argument; a placeholder is an argument path: {args.order}.'],
  ['{args.a[*]}', '"args.a[*]" is no argument; a placeholder is an argument path: {args.order}.'],
  ['{run.depth}', '"run.depth" is no argument; a placeholder is an argument path: {args.order}.'],
  ['{lower(args.a)}', '"lower(args.a)" is no argument; a placeholder is an argument path: {args.order}.'],
])('refuses the template %j', (template, problem) => {
  expect(readEffectTemplate(template)).toMatchObject({ problem })
})

test('asks by default, and gives an idempotent write the earlier result', () => {
  expect(effectRepeatOf({}, 'irreversible_action')).toBe('ask')
  expect(effectRepeatOf({}, undefined)).toBe('ask')
  expect(effectRepeatOf({}, 'idempotent_write')).toBe('return')
  expect(effectRepeatOf({ 'svc/effect-repeat': 'refuse' }, 'idempotent_write')).toBe('refuse')
  expect(effectRepeatOf({ 'svc/effect-repeat': 'typo' }, 'idempotent_write')).toBe('ask')
  expect(effectWindowOf({ 'svc/effect-window': '90d' })).toBe(90 * 86_400_000)
  expect(effectWindowOf({})).toBeUndefined()
})
