/** Every template, as `svc init` writes it: clean, offline, and with scenarios that hold. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { templateNames } from '../../src/cli/init/template.ts'
import { svc, temporary } from './recording-io.ts'

const TEMPLATES = resolve(import.meta.dirname, '../../templates')
const { path: cwd, remove } = temporary()
afterAll(remove)

describe.each(await templateNames())('the template %s', (name) => {
  const directory = join(cwd, name)

  test('says in its first line what it teaches', () => {
    expect(readFileSync(join(TEMPLATES, name, 'README.md'), 'utf8')).toMatch(/^[A-Z][^#\n]{40,140}\.\n\n# /)
  })

  test('is written and has no errors and no warnings', async () => {
    expect((await svc(['init', name, '-t', name], { cwd })).code).toBe(0)
    const { stdout } = await svc(['lint', '--json'], { cwd: directory })
    expect(JSON.parse(stdout)).toMatchObject({ errors: 0, warnings: 0 })
  })

  test('is in canonical form', async () => {
    expect(await svc(['fmt', '--check'], { cwd: directory })).toMatchObject({ code: 0, stdout: '' })
  })

  test('tests the policies it has, and covers them', async () => {
    const { code, stdout } = await svc(['policy', 'test', '--coverage', '90', '--json'], { cwd: directory })
    const has = readdirSync(directory, { recursive: true, encoding: 'utf8' }).some((path) =>
      /policies\/.*yaml$/.test(path),
    )
    // The starter is as small as can be: its scenarios show what its only policy decides.
    if (name === 'starter') return
    expect({ code, ...(JSON.parse(stdout || '{}') as object) }).toMatchObject(has ? { code: 0, ok: true } : { code: 5 })
  })

  test('has at least three scenarios, which hold without a network and write nothing into the project', async () => {
    const files = (): readonly string[] => readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()
    const before = files()
    const { stdout } = await svc(['test', '--json'], {
      cwd: directory,
      fetch: () => Promise.reject(new Error('There is no network here.')),
    })
    const { cases } = JSON.parse(stdout) as { cases: { file: string; ok: boolean; trace: string[] }[] }
    expect(cases.filter(({ ok }) => !ok)).toEqual([])
    expect(cases.length).toBeGreaterThanOrEqual(3)
    expect(files()).toEqual(before)
  })

  test('takes another name everywhere', async () => {
    const renamed = `${name}-renamed`
    expect((await svc(['init', renamed, '-t', name, '--name', 'globex.some-agent'], { cwd })).code).toBe(0)
    const { stdout } = await svc(['test', '--json'], { cwd: join(cwd, renamed) })
    expect(JSON.parse(stdout)).toMatchObject({ ok: true })
    const tree = await svc(['bundle', 'tree', '--json'], { cwd: join(cwd, renamed) })
    expect(JSON.parse(tree.stdout)).toMatchObject({ root: 'globex.some-agent' })
  })
})

describe('a guard across runs', () => {
  /** What a scenario says of a copy of a template whose guard is gone. */
  const without = async (template: string, scenario: string, weaken: (directory: string) => void): Promise<string> => {
    const directory = join(cwd, `${template}-weak`)
    cpSync(join(cwd, template), directory, { recursive: true })
    weaken(directory)
    const { code, stdout } = await svc(['test', '--filter', scenario], { cwd: directory })
    expect(code).toBe(1)
    return stdout
  }

  test('is needed: without the effect key of the refund template the second run pays', async () => {
    const stdout = await without('refund', 'again', (directory) => {
      const file = join(directory, 'tools/refunds.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace(/.*\n.*effect-key.*\n/, ''))
    })
    expect(stdout).toContain(
      'got [{"tool":"acme.refunds","arguments":{"order":"A-1042","amount":40,"currency":"EUR"}}]',
    )
  })

  test('is needed: without the source condition of the support template an injected order gets the voucher', async () => {
    const stdout = await without('support', 'injected', (directory) => {
      rmSync(join(directory, 'policies/known-orders.yaml'))
      const file = join(directory, 'agents/support-desk.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace(/ *- acme\.known-orders\n/, ''))
    })
    expect(stdout).toContain('got [{"tool":"acme.vouchers","arguments":{"order":"E-666","amount":15}}]')
  })

  test('is needed: without the effect key of the invoices template the same invoice is paid twice', async () => {
    const stdout = await without('invoices', 'again', (directory) => {
      const file = join(directory, 'tools/payments.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace(/.*\n.*effect-key.*\n/, ''))
      const scenario = join(directory, 'scenarios/again.scenario.yaml')
      writeFileSync(scenario, readFileSync(scenario, 'utf8').replace('reject: paid before', 'approve: true'))
    })
    expect(stdout).toContain('got {"paid":40,"currency":"EUR"}')
  })

  test('is needed: without the source condition of the invoices template a person is asked about a new account', async () => {
    const stdout = await without('invoices', 'new-account', (directory) => {
      rmSync(join(directory, 'policies/known-accounts.yaml'))
      const file = join(directory, 'agents/invoice-payer.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace(/ *- acme\.known-accounts\n/, ''))
    })
    expect(stdout).toContain('undecided: approval of Pay 90 EUR to LT121000011101001000 for invoice R-120')
  })
})

describe('the template monorepo', () => {
  const directory = join(cwd, 'monorepo')
  const planted = [
    ...readFileSync(join(TEMPLATES, 'monorepo/README.md'), 'utf8').matchAll(
      /^\| `([a-z-]+\.yaml)` *\| *(\d+):(\d+) *\| (error|warn) *\| `([a-z/-]+)` *\|$/gm,
    ),
  ].map(([, file, line, column, severity, rule]) => ({ file, line, column, severity, rule }))

  test('reports every defect that it plants', () => {
    expect(planted.map(({ file }) => file)).toEqual(readdirSync(join(directory, 'defects')).sort())
  })

  test.each(planted)('$file: exactly $rule', async ({ file, line, column, severity, rule }) => {
    const { stdout } = await svc(['lint', `defects/${file}`, '--format', 'compact'], { cwd: directory })
    expect(stdout).toMatch(new RegExp(`^defects/${file}:${line}:${column}  ${severity} +${rule}  .*\n$`))
  })

  test('holds twelve documents of three teams, and pins the svc that its pipeline runs', async () => {
    const { stdout } = await svc(['lint', '--json'], { cwd: directory })
    expect(JSON.parse(stdout)).toMatchObject({ files: 12 })
    expect(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))).toHaveProperty([
      'devDependencies',
      '@svc-agents/cli',
    ])
  })
})
