import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Without scripts: `prepare` would build what other tests are running. */
const packed = (): string[] => {
  const [{ files }] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ files: { path: string }[] }]
  return files.map(({ path }) => path)
}

test('the package holds what runs and what its user reads, and nothing else', () => {
  const files = packed()
  const rooms = new Set(files.map((path) => (path.includes('/') ? path.split('/')[0]! : path)))
  expect([...rooms].sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'package.json',
    'schemas',
    'templates',
  ])
  expect(files).toEqual(
    expect.arrayContaining([
      'bin/svc.js',
      'dist/start.cjs',
      'dist/client.js',
      'dist/types/client/index.d.ts',
      'dist/migrations/0001-first.sql',
    ]),
  )
  expect(files.filter((path) => /\.(map|log|db)$/.test(path))).toEqual([])
})

test('what the package declares is what it holds', async () => {
  const { messages, pkg } = await publint({ pkgDir: root, pack: false })
  expect(messages.map((each) => formatMessage(each, pkg!, { color: false }))).toEqual([])
})
