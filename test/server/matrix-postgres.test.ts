/** The matrix of `matrix.test.ts` on a database that several servers share. */
import { afterAll, describe } from 'vitest'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { accessMatrix } from './access-matrix.ts'

const server = startPostgres()
afterAll(() => server?.stop())

describe.skipIf(!server)('on PostgreSQL', () => {
  accessMatrix(async (clock) => {
    const url = server!.url('matrix')
    await migrateDatabase(url)
    return openPostgres({ url, clock })
  })
})
