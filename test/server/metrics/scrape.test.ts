/** What `/metrics` answers, read by the parser of the Python client of Prometheus. */
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { openServer } from '../../../src/server/open.ts'
import { closing, options } from '../running.ts'

const PROGRAM = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families
print(json.dumps([[f.name, f.type, len(f.samples)] for f in text_string_to_metric_families(sys.stdin.read())]))
`
const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import prometheus_client.parser']).status === 0,
)

describe.skipIf(python === undefined)('with the package prometheus_client of Python', () => {
  test('every metric of a server is read, with its type', async () => {
    const server = await openServer({ ...options(), internal: { host: '127.0.0.1', port: 0 } })
    closing(() => server.close())
    const answer = await fetch(`${server.internalUrl}/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await answer.text()
    const { stdout, stderr } = spawnSync(python!, ['-c', PROGRAM], { input: text, encoding: 'utf8' })
    expect(stderr).toBe('')
    const told = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [
      // The parser names counters without their ending.
      type === 'counter' ? name!.replace(/_total$/, '') : name,
      type,
    ])
    const read = JSON.parse(stdout) as [string, string, number][]
    expect(read.map(([name, type]) => [name, type])).toEqual(told)
    expect(read.reduce((sum, [, , samples]) => sum + samples, 0)).toBe(text.match(/^[^#\n]/gm)!.length)
  })
})
