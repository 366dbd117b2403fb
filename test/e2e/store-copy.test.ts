/** `svc store copy` through the binary: runs that wait go on where the copy is served, in both directions. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startPostgres } from '../store/postgres-server.ts'
import { svc, svcJson, type ServerProcess } from './binary.ts'
import { openCourier, type Courier } from './courier.ts'
import { customer, ENDED } from './customer.ts'
import { bucketUrl } from '../bucket.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

describe.skipIf(!postgres)('svc store copy', () => {
  let count = 0
  let url = ''
  let courier: Courier
  let server: ServerProcess | undefined
  beforeEach(async () => {
    url = postgres!.url(`moved_${count++}`)
    courier = await openCourier({
      timeout: '10s',
      env: { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
    })
  })
  afterEach(async () => {
    await server?.stop('SIGKILL')
    server = undefined
    await courier.close()
  })

  const at = () => ({ cwd: courier.project.directory })
  const onPostgres = async () => {
    server = await courier.serve(undefined, '--store', url, '--storage', await bucketUrl())
    return customer(server, courier.access)
  }
  const untilStatus = async (look: () => Promise<{ status: string }>, is: (status: string) => boolean) => {
    for (let n = 0; n < 400; n++) {
      const { status } = await look()
      if (is(status)) return status
      await after(25)
    }
    throw new Error('It did not become so.')
  }
  const waits = (status: string) => status === 'WaitingForHITL'
  const ends = (status: string) => ENDED.has(status)
  const stop = async () => {
    expect(await server!.stop('SIGTERM')).toBe(0)
    server = undefined
  }
  const times = (tool: string) => courier.arrivals.filter((each) => each.tool === tool).length

  test(
    'a run that waits for an approval on SQLite completes on PostgreSQL, and the other way round',
    { timeout: 120_000 },
    async () => {
      server = await courier.serve()
      const onSqlite = customer(server, courier.access)
      const first = await onSqlite.start()
      await untilStatus(() => onSqlite.run(first), waits)
      const served = await svc(['store', 'copy', `sqlite:${courier.project.data}`, url], at())
      expect([served.code, served.stdout]).toEqual([6, ''])
      expect(served.stderr).toMatch(/^error\[store_locked\]/)
      await stop()

      const moved = await svcJson<{ rows: number; files: number; digest: string }>(
        ['store', 'copy', `sqlite:${courier.project.data}`, url],
        at(),
      )
      expect(moved).toMatchObject({ files: 0, digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) })
      expect(moved.rows).toBeGreaterThan(30)
      // What it was copied from is not served any more.
      const refused = await svc(['serve', '--port', '0', '--data', courier.project.data], at())
      expect([refused.code, refused.stderr.split('\n')[0]]).toEqual([6, expect.stringMatching(/^error\[store_moved\]/)])

      const shared = await onPostgres()
      expect((await shared.run(first)).status).toBe('WaitingForHITL')
      await untilStatus(() => shared.help(first), ends)
      expect(await shared.run(first)).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
      const numbers = await shared.eventNumbers(first)
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => n + 1))
      const second = await shared.start()
      await untilStatus(() => shared.run(second), waits)
      await stop()

      const back = join(courier.project.directory, 'back')
      const text = await svc(['store', 'copy', url, `sqlite:${back}`], at())
      expect([text.code, text.stdout]).toEqual([0, expect.stringMatching(/^copied [\d,]+ rows and 0 files from /)])
      server = await courier.serve(undefined, '--data', back)
      const again = customer(server, courier.access)
      expect((await again.run(first)).status).toBe('Completed')
      await untilStatus(() => again.help(second), ends)
      expect(await again.run(second)).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
      // Of what must not be repeated, nothing was.
      expect(['acme.post', 'acme.pay', 'acme.stamp'].map(times)).toEqual([2, 2, 2])
    },
  )

  test('a store with files needs a bucket', async () => {
    server = await courier.serve()
    writeFileSync(join(courier.project.directory, 'note.txt'), 'paid twice\n')
    await svcJson(['files', 'upload', 'note.txt', '--data', courier.project.data], at())
    await stop()
    const { code, stderr } = await svc(['store', 'copy', `sqlite:${courier.project.data}`, url], at())
    expect([code, stderr.split('\n')[0]]).toEqual([2, expect.stringContaining('keep them in a bucket')])
    expect(existsSync(join(courier.project.data, 'moved'))).toBe(false)
  })
})
