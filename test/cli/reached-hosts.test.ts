/** `svc explain --egress`. Source: docs/design/command-line.md#operating */
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { svc } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

test('svc explain --egress names each host that a server of the project contacts, and what for', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-egress-'))
  onTestFinished(() => removeDirectory(directory))
  cpSync(resolve(import.meta.dirname, '../../examples/refund'), directory, { recursive: true })
  const config = join(directory, 'svc.config.yaml')
  const none = await svc(['explain', '--egress'], { cwd: directory })
  writeFileSync(
    config,
    `workspace: acme
providers:
  scripted: { type: anthropic }
storage: { url: s3://files, region: eu-central-1 }
tools:
  acme.refunds: { http: { url: 'https://tools.example.com/refund' } }
  acme.orders.lookup: { http: { url: 'https://tools.example.com:443/orders' } }
`,
  )
  const { code, stdout } = await svc(['explain', '--egress', '--json'], {
    cwd: directory,
    env: { SVC_STORE: 'postgres://svc:password@db.example.com/svc' },
  })
  expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({
    code: 0,
    answer: {
      items: [
        { host: 'api.anthropic.com', port: 443, for: ['model scripted'] },
        { host: 'db.example.com', port: 5432, for: ['store'] },
        { host: 's3.eu-central-1.amazonaws.com', port: 443, for: ['files'] },
        { host: 'tools.example.com', port: 443, for: ['tool acme.refunds', 'tool acme.orders.lookup'] },
      ],
      total: 4,
    },
  })
  expect({ code: none.code, stdout: none.stdout }).toEqual({ code: 0, stdout: '' })
})

test.each([
  [['explain'], /Name what to explain\./],
  [['explain', 'Tool', '--egress'], /--egress is about the whole project: leave out the term\./],
])('svc %j is refused', async (args, sentence) => {
  const { code, stdout, stderr } = await svc(args, { cwd: import.meta.dirname })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(sentence)
})
