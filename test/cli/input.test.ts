import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readInput } from '../../src/cli/runs/input.ts'
import { exampleInput, startCommandOf } from '../../src/cli/runs/example-input.ts'
import { SvcClient } from '../../src/client/index.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { createWorld, temporary } from './recording-io.ts'

const { path: cwd, remove } = temporary()
afterAll(remove)

const schema: JsonObject = {
  properties: {
    amount: { type: 'number' },
    count: { type: 'integer' },
    urgent: { type: 'boolean' },
    tags: { type: 'array' },
    note: { type: ['string', 'null'] },
  },
}
const contract = { agent: 'acme.refund-desk', version: '1.2.0', schema }
const client = new SvcClient({ apiKey: 'svc_test', fetch: () => Promise.reject(new Error('nothing is sent')) })
const read = (pairs: readonly string[], file?: string, stdin = '') =>
  readInput(pairs, file, contract, client, { cwd, io: createWorld({ cwd, stdin }).io })

describe('pairs become the input', () => {
  test.each<[readonly string[], JsonObject]>([
    [['order=A-1042'], { order: 'A-1042' }],
    [['amount=180'], { amount: 180 }],
    [['amount:=180.5'], { amount: 180.5 }],
    [['count=-3', 'urgent=true'], { count: -3, urgent: true }],
    [['note=12'], { note: '12' }],
    [['unknown=12'], { unknown: '12' }],
    [['q=a=b@c:=d'], { q: 'a=b@c:=d' }],
    [['x:={"a":[1,null]}'], { x: { a: [1, null] } }],
    [['empty='], { empty: '' }],
    [['order=1', 'order=2'], { order: '2' }],
  ])('%j', async (pairs, input) => {
    expect(await read(pairs)).toEqual(input)
  })

  test('a name of every object is a name like any other', async () => {
    const input = await read(['__proto__=x', 'constructor=y'])
    expect(JSON.stringify(input)).toBe('{"__proto__":"x","constructor":"y"}')
  })

  test.each(['0x10', '0b1', '0o7', 'Infinity', '1_000', ''])('%j is no number', async (text) => {
    await expect(read([`count=${text}`])).rejects.toMatchObject({
      code: 'usage',
      message: `"${text}" is no integer, which the input contract of acme.refund-desk@1.2.0 declares for count.`,
    })
  })

  test('key=<file takes the text of a file', async () => {
    writeFileSync(join(cwd, 'letter.txt'), 'Dear all,\n')
    expect(await read(['letter=<letter.txt'])).toEqual({ letter: 'Dear all,\n' })
  })

  test('--input is the whole object, and pairs are laid over it', async () => {
    writeFileSync(join(cwd, 'input.json'), '{"order":"A-1","amount":1}')
    expect(await read(['amount=2'], 'input.json')).toEqual({ order: 'A-1', amount: 2 })
    expect(await read([], '-', '{"order":"B-2"}')).toEqual({ order: 'B-2' })
  })

  test('--input with JSON in place of a path says how JSON is given', async () => {
    await expect(read([], '{"order":"B-2"}')).rejects.toMatchObject({
      code: 'usage',
      message: 'The text of JSON stands where the path of a file is expected.',
      fix: 'Write the JSON to standard input and give - as the file.',
    })
  })
})

describe('an invalid input is a usage error that says why', () => {
  test.each<[readonly string[], string]>([
    [['order'], '"order" is not an input.'],
    [['amount=much'], '"much" is no number, which the input contract of acme.refund-desk@1.2.0 declares for amount.'],
    [['urgent=yes'], '"yes" is no boolean, which the input contract of acme.refund-desk@1.2.0 declares for urgent.'],
    [['count=9007199254740993'], 'The number 9007199254740993 for count cannot be kept exactly.'],
    [['amount=1e400'], 'The number 1e400 for amount cannot be kept exactly.'],
    [
      ['x:={"a":[1e400]}'],
      'The value of x is refused: the number 1e400 at /a/0 cannot be kept exactly: numbers have at most 17 digits and go to 9007199254740991; write it as text.',
    ],
    [['tags=a'], 'tags is array in the input contract of acme.refund-desk@1.2.0; write tags:=JSON.'],
  ])('%j', async (pairs, message) => {
    await expect(read(pairs)).rejects.toMatchObject({ code: 'usage', message })
  })

  test('a file that is not there', async () => {
    await expect(read(['letter=<absent.txt'])).rejects.toMatchObject({
      code: 'file_missing',
      message: 'absent.txt cannot be read: there is no such file or directory.',
    })
  })

  test('invalid JSON, and an input that is not an object', async () => {
    await expect(read(['x:={'])).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^The value of x is not valid JSON: /) as string,
    })
    await expect(read([], '-', '[1]')).rejects.toMatchObject({
      code: 'usage',
      message: 'The input in - is not an object.',
    })
  })
})

test('a contract gives the pairs of an example', () => {
  const required = ['order', 'amount', 'size', 'note', 'gift']
  const properties = {
    order: { type: 'string', examples: ['A-1042'] },
    amount: { type: 'number' },
    size: { enum: ['S', 'M'] },
    note: { type: 'string' },
    gift: { type: 'boolean' },
  }
  expect(exampleInput({ required, properties })).toBe(' order=A-1042 amount:=1 size=S note=… gift:=true')
  expect(exampleInput(undefined)).toBe('')
})

test('an example can be pasted into a shell whatever its values are', () => {
  const properties = {
    city: { type: 'string', default: "L'Aquila; $HOME" },
    tags: { type: 'array', default: ['a b', "it's"] },
    none: { type: 'string', default: '' },
  }
  expect(exampleInput({ required: ['city', 'tags', 'none'], properties })).toBe(
    String.raw` city='L'\''Aquila; $HOME' tags:='["a b","it'\''s"]' none=''`,
  )
})

test.each([
  ['scripted/desk', 'svc run acme.desk order=…'],
  [undefined, 'svc run acme.desk order=…'],
  ['external/assistant', 'svc mcp --tools acme.desk'],
])('an agent whose model is %s is started by %s', (model, command) => {
  const contract = { required: ['order'], properties: { order: { type: 'string' } } }
  expect(startCommandOf('acme.desk', model, contract)).toBe(command)
})
