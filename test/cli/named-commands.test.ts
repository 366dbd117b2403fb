/** What errors advise can be done. */
import { expect, test } from 'vitest'
import { failures } from '../../src/base/failure.ts'
import type { FailureRow } from '../../src/base/failures/failure-row.ts'
import { commandTable } from '../../src/cli/table/table.ts'

/** Words that may follow `svc`: the first word of each command. */
const FIRST_WORDS = new Set(commandTable.map(({ path }) => path.split(' ')[0]))

test('remedies of failures name commands that exist', () => {
  const named = Object.entries<FailureRow>(failures).flatMap(([code, { fix = '' }]) =>
    [...fix.matchAll(/\bsvc ([a-z]+)/g)].map(([, word]) => [code, word]),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(([, word]) => !FIRST_WORDS.has(word))).toEqual([])
})
