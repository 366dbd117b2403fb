/** Datasets: broken lines are named and left out, everything is bounded. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { digestOf } from '../../../src/base/digest.ts'
import { MAX_CASES, readDataset, type Dataset } from '../../../src/cli/eval/dataset.ts'
import { temporary } from '../recording-io.ts'

const { path: directory, remove } = temporary()
afterAll(remove)

const read = async (text: string, files: Readonly<Record<string, string>> = {}): Promise<Dataset> => {
  for (const [path, content] of Object.entries({ ...files, 'cases.jsonl': text })) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  return await readDataset(join(directory, 'cases.jsonl'), 'cases.jsonl', join(directory, 'shop'))
}
const problemOf = async (line: string): Promise<string | undefined> => (await read(line)).broken[0]?.message

const withoutRubrics = (each: Dataset['cases'][number]): object => {
  const { rubrics: _, ...rest } = each
  return rest
}

const GOOD = '{"input": {}, "expected": 1}'

test('a line is a case, with the defaults above it', async () => {
  const { cases, broken } = await read(
    [
      GOOD,
      '',
      '{"defaults": {"agent": "acme.desk", "tools": {"acme.a": {"result": 1}, "acme.b": {"result": 2}}, "checks": [{"max_tokens": 9}]}}',
      '{"name": "second", "input": {"a": 1}, "tools": {"acme.b": {"error": "no"}}, "checks": [{"calls": "acme.a", "times": 2}]}',
    ].join('\n'),
  )
  expect(broken).toEqual([])
  expect(cases.map(withoutRubrics)).toEqual([
    { name: 'line 1', line: 1, input: {}, expected: 1, checks: [] },
    {
      name: 'second',
      line: 4,
      agent: 'acme.desk',
      input: { a: 1 },
      tools: { 'acme.a': { result: 1 }, 'acme.b': { error: 'no' } },
      checks: [{ max_tokens: 9 }, { calls: 'acme.a', times: 2 }],
    },
  ])
})

test.each([
  ['{"input": {}', 'It is not JSON: '],
  ['[]', 'It is not a JSON object.'],
  ['{}', 'It has no `input`.'],
  ['{"input": {}}', 'Nothing is checked: it has neither `expected` nor `checks`.'],
  ['{"input": {}, "inptu": 1}', '`inptu` is not a key'],
  ['{"input": {}, "defaults": {}}', '`defaults` stand in a line of their own, without `input`.'],
  ['{"input": {}, "checks": [{"where": {"field": "args.a", "op": "eq", "value": 1}}]}', 'A check says none of status,'],
  [
    '{"input": {}, "checks": [{"status": "Completed", "max_tokens": 1}]}',
    'A check says one thing, not status and max_tokens.',
  ],
  [
    '{"input": {}, "checks": [{"calls": "a.b", "where": {"field": "run.depht", "op": "eq", "value": 1}}]}',
    '`where` of `calls`: ',
  ],
  [
    '{"input": {}, "checks": [{"max_tokens": 1, "where": {"field": "args.a", "op": "eq", "value": 1}}]}',
    '`where` does not go with `max_tokens`.',
  ],
  ['{"input": {}, "checks": [{"never_calls": "a.b", "times": 1}]}', '`times` does not go with `never_calls`.'],
  ['{"input": {}, "checks": [{"max_cost": "5"}]}', '`max_cost` is an amount and a currency: 0.05 USD.'],
  ['{"input": {}, "checks": [{"output_schema": {"type": "objekt"}}]}', '`output_schema` is no JSON Schema: '],
  ['{"input": {}, "checks": [{"judge": {}}]}', '`judge` has a `rubric` or a `rubric_file`.'],
  [
    '{"input": {}, "checks": [{"judge": {"rubric_file": "no.md"}}]}',
    'no.md cannot be read: there is no such file or directory.',
  ],
  ['{"input": {}, "expected": 1, "decide": [{"task": "approval"}]}', 'decide[0] answers nothing.'],
  ['{"defaults": {"tools": {"a.b": {"resutl": 1}}}}', '`resutl` is not a key of tools.a.b'],
  [`{"input": {"a": "${'x'.repeat(1024 * 1024)}"}, "expected": 1}`, 'It has more than 1024 KiB.'],
])('a broken line is named: %.80s', async (line, message) => {
  expect(await problemOf(line)).toContain(message)
})

test('lines beside broken ones are read, and each is numbered as in the file', async () => {
  const { cases, broken } = await read(`nonsense\n\n${GOOD}\n{}\n${GOOD}\n`)
  expect(cases.map(({ line }) => line)).toEqual([3, 5])
  expect(broken.map(({ line }) => line)).toEqual([1, 4])
})

test('a rubric is known by the digest of its text, wherever it stands', async () => {
  const { cases } = await read(
    '{"input": {}, "checks": [{"judge": {"rubric": "Be polite."}}, {"judge": {"rubric_file": "rubrics/polite.md"}}]}',
    { 'rubrics/polite.md': 'Be polite.\n' },
  )
  const [inline, file] = [...cases[0]!.rubrics.values()]
  expect(inline).toEqual({ text: 'Be polite.', digest: digestOf('Be polite.') })
  expect(file).toEqual(inline)
})

test('a dataset without a case, or with too many, is refused', async () => {
  await expect(read('\n \n')).rejects.toThrow('cases.jsonl has no case.')
  await expect(read(`${GOOD}\n`.repeat(MAX_CASES + 1))).rejects.toThrow(
    `cases.jsonl has ${MAX_CASES + 1} lines; one evaluation takes ${MAX_CASES}.`,
  )
})

test('a dataset of nothing but defaults is refused', async () => {
  await expect(read('{"defaults": {}}')).rejects.toThrow('cases.jsonl has no case, only defaults.')
})

test('ten thousand lines are read within bounds, broken ones among them', async () => {
  const lines = Array.from({ length: MAX_CASES }, (_, at) => (at % 10 === 0 ? '{"input": 1}' : GOOD))
  const before = process.cpuUsage()
  const { cases, broken } = await read(lines.join('\n'))
  const { user, system } = process.cpuUsage(before)
  expect([cases.length, broken.length]).toEqual([9000, 1000])
  expect((user + system) / 1e6).toBeLessThan(20)
})

test('a rubric stands beside the dataset or in the project, since it is sent to the judge', async () => {
  const evals = join(directory, 'shop/evals')
  mkdirSync(evals, { recursive: true })
  writeFileSync(join(directory, 'key.pem'), 'a secret')
  writeFileSync(join(directory, 'shop/polite.md'), 'Be polite.')
  symlinkSync(join(directory, 'key.pem'), join(evals, 'link.md'))
  const lines = ['../polite.md', '../../key.pem', 'link.md', join(directory, 'key.pem')].map((file) =>
    JSON.stringify({ input: {}, checks: [{ judge: { rubric_file: file } }] }),
  )
  writeFileSync(join(evals, 'cases.jsonl'), lines.join('\n'))
  const { cases, broken } = await readDataset(join(evals, 'cases.jsonl'), 'cases.jsonl', join(directory, 'shop'))
  expect(cases.map(({ line }) => line)).toEqual([1])
  expect(broken).toEqual([
    { line: 2, message: '../../key.pem is outside the project.' },
    { line: 3, message: 'link.md is outside the project.' },
    { line: 4, message: `${join(directory, 'key.pem')} is outside the project.` },
  ])
})
