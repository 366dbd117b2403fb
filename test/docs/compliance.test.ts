/** The page for auditors: each command that it names exists, takes the options, and answers the fields. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/base/json/json.ts'
import { commandTable } from '../../src/cli/table/table.ts'

const page = readFileSync(new URL('../../docs/compliance.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| ((?:Art\.|CC)[^|]*?) +\|[^|]*\| `svc ([^`]+)` +\| (.*?) +\|$/gm)].map(
  ([, clause = '', command = '', fields = '']) => ({
    clause,
    command,
    fields: [...fields.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field),
  }),
)

const entryOf = (command: string) => commandTable.find(({ path }) => command === path || command.startsWith(`${path} `))

/** The schemas at a path such as `items[].by`, in any form that the answer may have. */
function schemasAt(schema: unknown, path: readonly string[]): readonly unknown[] {
  if (!isJsonObject(schema)) return []
  const { anyOf, items, properties } = schema as { anyOf?: unknown[]; items?: unknown; properties?: JsonObject }
  const inside = (anyOf ?? []).flatMap((each) => schemasAt(each, path))
  const [step, ...rest] = path
  if (step === undefined) return [schema, ...inside]
  const next = step === '[]' ? items : properties?.[step]
  return [...(next === undefined ? [] : schemasAt(next, rest)), ...inside]
}
const stepsOf = (field: string): string[] => field.split('.').flatMap((each) => each.split(/(?=\[\])/))
const isAnswered = (command: string, field: string): boolean => {
  const answer: unknown = entryOf(command)?.answer?.()
  return schemasAt(answer, stepsOf(field)).length > 0
}

test('each row names a command with the options that it takes', () => {
  expect(rows.length).toBe(page.match(/^\| (?:Art\.|CC)/gm)?.length)
  const wrong = rows.filter(({ command }) => {
    const entry = entryOf(command)
    const flags = [...command.matchAll(/ (--[a-z-]+)/g)].map(([, flag = '']) => flag)
    return entry === undefined || flags.some((flag) => !entry.options?.some(({ flags: known }) => known.includes(flag)))
  })
  expect(wrong).toEqual([])
})

test('each field is one of the answer; a field that no answer has is noticed', () => {
  const wrong = rows.flatMap(({ command, fields }) =>
    fields.filter((field) => !isAnswered(command, field)).map((field) => `${command}: ${field}`),
  )
  expect(wrong).toEqual([])
  expect(isAnswered('log acts', 'items[].colour')).toBe(false)
})
