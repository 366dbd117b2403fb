/** The tests of what operators and programs do to runs, once more on PostgreSQL. */
import { afterAll, test } from 'vitest'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { useDatabases } from './running.ts'

const server = startPostgres()
afterAll(() => server?.stop())

let databases = 0
if (!server) test.skip('PostgreSQL is not installed', () => {})
else {
  useDatabases(async () => {
    const url = server.url(`verbs_${++databases}`)
    await migrateDatabase(url)
    return url
  })
  // A file of tests that is imported adds them to this one.
  await import('./steering.test.ts')
  await import('./outside.test.ts')
  await import('./fork.test.ts')
  await import('./run-search.test.ts')
}
