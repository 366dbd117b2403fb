import { expect, test, vi } from 'vitest'
import { connect } from '../../src/store/sqlite/connect.ts'

vi.mock('better-sqlite3', () => ({
  default: function () {
    throw new Error('Could not locate the bindings file. Tried:\n → build/better_sqlite3.node')
  },
}))

test('a missing native part is told with the command that builds it', () => {
  expect(() => connect(':memory:', 0)).toThrow(
    expect.objectContaining({ code: 'native_sqlite_missing', exit: 2, fix: 'npm rebuild better-sqlite3' }),
  )
})
