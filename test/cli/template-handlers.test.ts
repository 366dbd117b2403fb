/** Handlers of templates that promise more than they are told: a database that is only read, a folder that nothing leaves. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { temporary } from './recording-io.ts'

const TEMPLATES = resolve(import.meta.dirname, '../../templates')
const { path: cwd, remove } = temporary()
afterAll(remove)

/** What a handler of a copy of a template answers to the arguments of a call. */
const handlerOf =
  (template: string, handler: readonly string[], env: Record<string, string> = {}) =>
  (args: object): { readonly said: unknown; readonly error: string } => {
    const directory = join(cwd, template)
    cpSync(join(TEMPLATES, template), directory, { recursive: true, force: false })
    const [file, ...more] = handler
    const input = JSON.stringify({ arguments: args, idempotency_key: 'k1' })
    const options = { input, encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } } as const
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(directory, 'handlers', file!), ...more],
      options,
    )
    return { said: status === 0 ? JSON.parse(stdout) : undefined, error: status === 0 ? '' : stderr }
  }

const hasSqlite = process.versions.node.split('.', 1)[0] !== '20' || spawnSync('sqlite3', ['--version']).status === 0

describe.skipIf(!hasSqlite)('the database of the template analyst', () => {
  const query = handlerOf('analyst', ['sales.mjs', 'query'])

  test('lists its tables', () => {
    expect(handlerOf('analyst', ['sales.mjs', 'tables'])({}).said).toEqual({
      tables: [
        { name: 'customers', columns: ['id', 'name', 'email', 'region'] },
        { name: 'orders', columns: ['id', 'customer', 'day', 'region', 'amount'] },
      ],
    })
  })

  test.each([
    ['a SELECT', 'select count(*) as n from orders', { rows: [{ n: 9 }], truncated: false }],
    ['one that ends with a semicolon', 'select 1 as n ; ', { rows: [{ n: 1 }], truncated: false }],
    ['one with a comment at its end', 'select 1 as n -- one', { rows: [{ n: 1 }], truncated: false }],
    ['no row', 'select 1 as n where 1 = 0', { rows: [], truncated: false }],
  ])('answers %s', (_, sql, expected) => {
    expect(query({ sql }).said).toEqual(expected)
  })

  test('answers at most 200 rows, and says when there are more', () => {
    const sql = 'with recursive t (n) as (select 1 union all select n + 1 from t where n < 500) select n from t'
    expect(query({ sql }).said).toMatchObject({ rows: { length: 200 }, truncated: true })
  })

  test.each([
    ['a change', 'delete from orders'],
    ['a change behind a SELECT', 'select 1); delete from orders; select (1'],
    ['another database', "select 1); attach 'other.db' as other; select (1"],
    ['what is no SQL', 'orders please'],
  ])('refuses %s, and says why', (_, sql) => {
    const file = join(cwd, 'sales.db')
    writeFileSync(file, '')
    const { said, error } = handlerOf('analyst', ['sales.mjs', 'query'], { SALES_DB: file })({ sql })
    expect({ said, isSaid: error.length > 0, database: readFileSync(file).length }).toEqual({
      said: undefined,
      isSaid: true,
      database: 0,
    })
  })
})

describe('the folder of the template coder', () => {
  const call = (act: string) => handlerOf('coder', ['files.mjs', act])

  test('is listed, read and written', () => {
    expect(call('list')({}).said).toEqual({ files: ['src/sum.mjs', 'test/sum.test.mjs'] })
    expect(call('write')({ path: 'src/new/one.mjs', text: '1\n' }).said).toEqual({ path: 'src/new/one.mjs' })
    expect(call('read')({ path: 'src/new/one.mjs' }).said).toEqual({ text: '1\n' })
  })

  test.each(['../README.md', '/etc/hostname', 'src/../../bundle.yaml', 'out/README.md'])(
    'is not left by %s',
    (path) => {
      call('list')({})
      const project = join(cwd, 'coder/project')
      mkdirSync(join(cwd, 'outside'), { recursive: true })
      try {
        symlinkSync(join(cwd, 'outside'), join(project, 'out'))
      } catch {
        // It is there already.
      }
      for (const act of ['read', 'write'])
        expect(call(act)({ path, text: 'x' })).toEqual({ said: undefined, error: `${path} is outside the project.` })
    },
  )
})

test('a push of the template coder is noted once, however often it is sent', () => {
  const push = handlerOf('coder', ['push.mjs'])
  const args = { branch: 'main', message: 'Mend sum' }
  expect([push(args).said, push(args).said]).toEqual([{ branch: 'main' }, { branch: 'main' }])
  expect(readFileSync(join(cwd, 'coder/pushes.log'), 'utf8')).toBe(`${JSON.stringify({ key: 'k1', ...args })}\n`)
})
