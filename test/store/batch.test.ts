/** Items that share a statement, and what becomes of them when the statement fails. */
import { expect, test } from 'vitest'
import { createBatchQueue } from '../../src/store/postgres/database/batch.ts'

const refusal = (code: string) => Object.assign(new Error(`refused with ${code}`), { severity: 'ERROR', code })

test.each([
  ['content is made again one by one, and only the guilty one fails', '23514', ['a', 'refused with 23514', 'c'], 4],
  ['a lock or a connection that is not to be had fails at once', '55P03', Array(3).fill('refused with 55P03'), 1],
])('a batch that is refused for %s', async (_, code, answers, statements) => {
  let made = 0
  const queue = createBatchQueue<string, string>({
    key: () => undefined,
    make(items) {
      made++
      return items.includes('b') ? Promise.reject(refusal(code)) : Promise.resolve(items)
    },
  })
  const settled = await Promise.all(
    ['a', 'b', 'c'].map((item) => queue.add(item).catch((error: Error) => error.message)),
  )
  expect([settled, made]).toEqual([answers, statements])
})
