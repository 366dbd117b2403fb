import { expect, test } from 'vitest'
import { failures } from '../../src/base/failure.ts'
import { accessFailures } from '../../src/base/failures/access.ts'
import { answerFailures } from '../../src/base/failures/answers.ts'
import { commandLineFailures } from '../../src/base/failures/command-line.ts'
import { documentFailures } from '../../src/base/failures/documents.ts'
import { runFailures } from '../../src/base/failures/runs.ts'
import { storeFailures } from '../../src/base/failures/store.ts'

test('no code stands in two tables, where the later one would replace the other', () => {
  const tables = [accessFailures, runFailures, answerFailures, storeFailures, documentFailures, commandLineFailures]
  expect(Object.keys(failures)).toEqual(tables.flatMap((table) => Object.keys(table)))
})
