/** `svc serve --otel`: ended sessions as OpenTelemetry traces, in an SDK that the operator brings. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { copyExample, deploy, serve, svc } from './binary.ts'

const API = pathToFileURL(createRequire(import.meta.url).resolve('@opentelemetry/api')).href

/** The smallest SDK: a provider whose spans are lines of a file once they have ended. */
const SDK = (file: string): string => `
import { appendFileSync } from 'node:fs'
import api from ${JSON.stringify(API)}
let next = 1
const startSpan = (name, { startTime, attributes }, context) => {
  const spanId = String(next++).padStart(16, '0')
  const parent = context && api.trace.getSpan(context)
  let failed = false
  return {
    spanContext: () => ({ traceId: '0'.repeat(31) + '1', spanId, traceFlags: 1 }),
    setStatus: () => { failed = true },
    end: (endTime) => appendFileSync(${JSON.stringify(file)}, JSON.stringify({
      name, parent: parent ? Number(parent.spanContext().spanId) : 0, id: Number(spanId), failed,
      timed: typeof startTime === 'number' && endTime >= startTime, attributes,
    }) + '\\n'),
  }
}
api.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) })
`

test('a session that has ended is one trace: runs, model calls, tool calls and waits, without what was said', async () => {
  const project = copyExample('refund')
  const spans = join(project.directory, 'spans.ndjson')
  const sdk = join(project.directory, 'sdk.mjs')
  writeFileSync(sdk, SDK(spans))
  const at = { cwd: project.directory }
  await deploy(project, 'acme.refund-desk')
  const server = await serve(['--otel', '--data', project.data], {
    ...at,
    env: { NODE_OPTIONS: `--import ${pathToFileURL(sdk).href}` },
  })
  const run = ['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180', '--data', project.data]
  expect((await svc(run, at)).code).toBe(3)
  expect((await svc(['approve', '@waiting', '--data', project.data], at)).code).toBe(0)
  expect((await svc(['runs', 'get', '@last', '--wait=terminal', '--data', project.data], at)).code).toBe(0)
  await server.stop()

  const text = readFileSync(spans, 'utf8')
  const told = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; id: number; parent: number; failed: boolean; timed: boolean })
    .sort((a, b) => a.id - b.id)
  expect(told.map(({ name, parent }) => `${told.find(({ id }) => id === parent)?.name ?? '-'} > ${name}`)).toEqual([
    '- > invoke_agent acme.refund-desk',
    'invoke_agent acme.refund-desk > chat refund-desk',
    'invoke_agent acme.refund-desk > execute_tool acme.orders.lookup',
    'invoke_agent acme.refund-desk > chat refund-desk',
    'invoke_agent acme.refund-desk > delegate acme.fraud-check',
    'delegate acme.fraud-check > invoke_agent acme.fraud-check',
    'invoke_agent acme.fraud-check > chat fraud-check',
    'invoke_agent acme.refund-desk > chat refund-desk',
    'invoke_agent acme.refund-desk > wait approval',
    'invoke_agent acme.refund-desk > execute_tool acme.refunds',
    'invoke_agent acme.refund-desk > chat refund-desk',
  ])
  expect(told.every(({ timed, failed }) => timed && !failed)).toBe(true)
  expect(text).not.toMatch(/A-1042|damaged/)
  project.remove()
})
