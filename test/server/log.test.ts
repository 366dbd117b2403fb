import { expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import { createLog } from '../../src/server/log/log.ts'

function recording(level: Parameters<typeof createLog>[1]) {
  const lines: string[] = []
  const redactor = createRedactor()
  redactor.add('hunter2-hunter2')
  return { log: createLog(redactor, level, { write: (line: string) => void lines.push(line) }), lines }
}

test('writes one JSON line with a level, a time, a fixed message and named values', () => {
  const { log, lines } = recording('info')
  log.write('warn', 'request failed', { path: '/v1/runs\nforged', status: 500 })
  expect(lines).toHaveLength(1)
  const { time, ...rest } = JSON.parse(lines[0]!) as { time: string }
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(rest).toEqual({ level: 'warn', path: '/v1/runs\nforged', status: 500, msg: 'request failed' })
  expect(lines[0]!.trimEnd()).not.toContain('\n')
})

test('blanks secrets at any depth, and as they are encoded', () => {
  const { log, lines } = recording('debug')
  log.write('debug', 'seen', {
    a: { b: [{ c: 'Bearer hunter2-hunter2' }] },
    d: Buffer.from('hunter2-hunter2').toString('base64'),
  })
  expect(JSON.parse(lines[0]!)).toMatchObject({ a: { b: [{ c: 'Bearer ***' }] }, d: '***' })
})

test('leaves out what is below its level', () => {
  const { log, lines } = recording('warn')
  log.write('info', 'listening')
  expect(lines).toEqual([])
})

test('a destination that takes nothing stops nobody who writes', () => {
  const lines: string[] = []
  let isFull = true
  const write = (line: string): void => {
    if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    lines.push(line)
  }
  const log = createLog(createRedactor(), 'info', { write })
  log.write('warn', 'the first')
  isFull = false
  log.write('warn', 'the second')
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['the second'])
})
