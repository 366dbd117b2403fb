/** A database that becomes unreadable while a server uses it. */
import { closeSync, existsSync, fstatSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Failure } from '../../src/base/failure.ts'
import { openServer } from '../../src/server/open.ts'
import { closing, directory, options } from './running.ts'

const PAGE = 4096

/** Noise over all of the files but the first page of each, as a failing disk or another program leaves it. */
function damage(path: string): void {
  for (const file of [path, `${path}-wal`]) {
    if (!existsSync(file)) continue
    const open = openSync(file, 'r+')
    const noise = Buffer.alloc(PAGE, 0xa5)
    for (let at = PAGE; at < fstatSync(open).size; at += PAGE) writeSync(open, noise, 0, PAGE, at)
    closeSync(open)
  }
}

async function serve() {
  const dataDirectory = directory()
  const lines: [string, string][] = []
  // Whoever writes a page remembers it: the server that is tested begins with a database of another.
  await (await openServer(options(dataDirectory))).close(0)
  const server = await openServer({
    ...options(dataDirectory),
    log: { write: (level, message) => void lines.push([level, message]) },
  })
  closing(() => server.close(0).catch(() => {}))
  const readAll = async () => {
    for (const path of ['/files', '/keys', '/operator-keys', '/costs', '/runs', '/agents', '/triggers', '/effects'])
      await server.operator.fetch(new Request(`http://operator.svc${path}`))
  }
  return { server, lines, readAll, file: join(dataDirectory, 'data.db') }
}

test('a server whose database cannot be read any more says so once, and ends', async () => {
  const { server, lines, readAll, file } = await serve()
  damage(file)
  await readAll()
  await readAll()
  expect(server.drain.aborted).toBe(true)
  expect((server.drain.reason as Failure).code).toBe('store_unreadable')
  expect(lines.filter(([level]) => level === 'error').map(([, message]) => message)).toContain(
    'the database cannot be read: this server ends, since it would decide on what it cannot read',
  )
  expect(lines.filter(([, message]) => message.startsWith('the database cannot be read'))).toHaveLength(1)
})

test('a server whose requests are refused goes on', async () => {
  const { server, readAll } = await serve()
  await readAll()
  const refused = await server.operator.fetch(new Request('http://operator.svc/runs/no-such-run'))
  expect([refused.status, server.drain.aborted]).toEqual([404, false])
})
