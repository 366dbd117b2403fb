/** An export of acts is checked without a server: whatever is changed later is found. Source: docs/design/audit.md#verify */
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Database } from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { packActs, verifyArchive } from '../../src/cli/commands/operate/audit-archive.ts'
import type { ActRecord } from '../../src/spec/act.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { removeDirectory } from '../remove-directory.ts'
import { anAct } from '../store/act-contract.ts'
import { NOW, runId, sessionId, WORKSPACE } from '../store/makers.ts'

const run = promisify(execFile)
const root = mkdtempSync(join(tmpdir(), 'svc-audit-'))
afterAll(() => removeDirectory(root))
const clock = { now: () => NOW, monotonic: () => NOW }
const COUNT = 20
/** The act that is changed. */
const CHANGED = 11

let made = 0

/** Acts of a store in a file in which somebody changed something. */
async function actsAfter(change: (db: Database) => void): Promise<readonly ActRecord[]> {
  const path = join(root, `${made++}.db`)
  const store = openSqlite(path, { clock })
  for (let at = 1; at <= COUNT; at++)
    await store.addAct(anAct(`act ${at}`, { sessionId: sessionId('s'), runId: runId('r'), refused: 'not_found' }))
  await store.close()
  const db = connectSqlite(path, {})
  change(db)
  db.close()
  const again = openSqlite(path, { clock })
  const acts = await again.actsInOrder(WORKSPACE, 0, 100)
  await again.close()
  return acts
}

const verify = async (acts: readonly ActRecord[]) => verifyArchive(await packActs(acts))

test('what nobody changed is whole, with its content and without', async () => {
  const acts = await actsAfter(() => {})
  expect(acts.length).toBe(COUNT)
  const hashes = acts.map(({ hash }) => hash)
  expect(await verify(acts)).toEqual({ hashes, offence: null })
  expect(await verify(acts.map((act) => ({ ...act, content: null, salt: null })))).toEqual({ hashes, offence: null })
  expect(await packActs(acts)).toEqual(await packActs(acts))
})

/** Each column of the table, from the schema: a new one is tried, too. */
const columns = () => {
  const db = connectSqlite(join(root, `${made - 1}.db`), {})
  const found = db.pragma('table_info(act)') as readonly { name: string; type: string }[]
  db.close()
  return found
}

test('a changed value of any column is found, at its act', async () => {
  const found: Record<string, unknown> = {}
  for (const { name, type } of columns()) {
    const value = name === 'seq' ? 99 : name === 'content' ? '{}' : type === 'INTEGER' ? 7 : 'other'
    const { offence } = await verify(
      await actsAfter((db) => db.prepare(`update act set ${name} = ? where seq = ?`).run(value, CHANGED)),
    )
    found[name] = offence && [offence.seq, offence.rule]
  }
  const names = Object.keys(found)
  expect(found).toEqual({
    ...Object.fromEntries(names.map((name) => [name, [CHANGED, 'hash']])),
    workspace_id: [CHANGED, 'gap'],
    seq: [CHANGED, 'gap'],
    content: [CHANGED, 'content'],
    content_digest: [CHANGED, 'content'],
    salt: [CHANGED, 'content'],
  })
  expect(names.length).toBe(17)
})

test.each<[string, string, number, string]>([
  ['removed', `delete from act where seq = ${CHANGED}`, CHANGED, 'gap'],
  ['the first removed', 'delete from act where seq = 1', 1, 'gap'],
  [
    'exchanged',
    `update act set seq = 1000 where seq = 5; update act set seq = 5 where seq = 6; update act set seq = 6 where seq = 1000`,
    5,
    'hash',
  ],
  [
    'added at the end',
    `insert into act select workspace_id, ${COUNT + 1}, at, kind, by, proof, key_id, channel, subject, session_id, run_id, refused,
       counted, content, content_digest, salt, hash from act where seq = ${COUNT}`,
    COUNT + 1,
    'hash',
  ],
])('an act that is %s is found', async (_, sql, seq, rule) => {
  expect((await verify(await actsAfter((db) => db.exec(sql)))).offence).toMatchObject({ seq, rule })
})

test('erased content leaves the chain whole', async () => {
  const erased = await actsAfter((db) => db.exec(`update act set content = null, salt = null where seq = ${CHANGED}`))
  expect((await verify(erased)).offence).toBeNull()
})

describe('an archive that is', () => {
  test.each<[string, (bytes: Buffer) => Uint8Array]>([
    ['empty', () => Buffer.alloc(0)],
    ['of something else', () => Buffer.from('acts.jsonl')],
    ['cut off', (bytes) => bytes.subarray(0, 3000)],
    ['changed in a line', (bytes) => Buffer.from(bytes.toString('latin1').replace('"act 9"', '"act 8"'), 'latin1')],
    ['not JSON in a line', (bytes) => Buffer.from(bytes.toString('latin1').replace('{"at":', '{"at" '), 'latin1')],
  ])('%s is refused, and nothing is thrown', async (_, change) => {
    const bytes = Buffer.from(await packActs(await actsAfter(() => {})))
    expect((await verifyArchive(change(bytes))).offence).not.toBeNull()
  })
})

test('the second verifier agrees, and finds an end that was cut off by an earlier export', async () => {
  const script = resolve(import.meta.dirname, '../../examples/audit/verify.mjs')
  const acts = await actsAfter(() => {})
  const write = async (name: string, records: readonly ActRecord[]): Promise<string> => {
    writeFileSync(join(root, name), await packActs(records))
    return join(root, name)
  }
  const [whole, short] = [await write('whole.tar', acts), await write('short.tar', acts.slice(0, -1))]
  const bad = await write('bad.tar', [...acts.slice(0, 4), { ...acts[4]!, by: 'operator:eva' }])
  const ask = (...files: readonly string[]) =>
    run(process.execPath, [script, ...files]).then(
      ({ stdout }) => stdout,
      (error: { stderr: string }) => error.stderr,
    )
  expect(await ask(whole)).toBe(`${COUNT} acts, head ${acts.at(-1)!.hash}\n`)
  expect(await ask(whole, short)).toBe(`${COUNT} acts, head ${acts.at(-1)!.hash}\n`)
  expect(await ask(short, whole)).toBe(`Act ${COUNT} of the earlier export is not there, or another one.\n`)
  expect(await ask(bad)).toBe('Act 5 is not the one that was recorded.\n')
})
