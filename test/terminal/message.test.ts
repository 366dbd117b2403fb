import { expect, test } from 'vitest'
import { wrapMessage } from '../../src/terminal/message.ts'

const wrap = (text: string, width: number): string[] => wrapMessage(text, width).split('\n')

test('a line that fits stays as it is, with its gaps', () => {
  expect(wrapMessage('next:  svc dev          no key', 30)).toBe('next:  svc dev          no key')
  expect(wrapMessage('a line that is longer than any terminal', Number.POSITIVE_INFINITY)).toBe(
    'a line that is longer than any terminal',
  )
})

test('prose breaks between words and goes on indented', () => {
  expect(wrap('error[usage]: There is no template "refnd", and nothing was written.', 40)).toEqual([
    'error[usage]: There is no template',
    '  "refnd", and nothing was written.',
  ])
  expect(wrap('  why: the comparison is unknown for every call', 30)).toEqual([
    '  why: the comparison is',
    '    unknown for every call',
  ])
})

test('what follows a label stands below its beginning', () => {
  expect(wrap('  fix:  Raise metadata.version, or publish with --bump.', 40)).toEqual([
    '  fix:  Raise metadata.version, or',
    '        publish with --bump.',
  ])
})

test('a styled label is a label', () => {
  const label = '\u001b[31m\u001b[1m\u001b[7mwider\u001b[27m\u001b[22m\u001b[39m'
  expect(wrap(`${label}  acme.desk  a limit from 100 to 250`, 24)).toEqual([
    `${label}  acme.desk  a`,
    '       limit from 100 to',
    '       250',
  ])
})

test('columns break before words do', () => {
  expect(wrap('1/4 started a local server           http://127.0.0.1:49231  (in memory)', 60)).toEqual([
    '1/4 started a local server',
    '  http://127.0.0.1:49231  (in memory)',
  ])
})

test('a command is never torn, so that it can be copied', () => {
  expect(
    wrap('next:  svc init refund-demo && cd refund-demo && svc dev          the same project, to change', 40),
  ).toEqual(['next:  svc init refund-demo && cd refund-demo && svc dev', '       the same project, to change'])
})

test('a code frame keeps its columns', () => {
  const frame = '    14 |     value: "a value that is much longer than the terminal"'
  expect(wrap(frame, 30)).toEqual([frame])
})

test('styles take no columns', () => {
  expect(wrap('\u001b[31mred words\u001b[39m and plain words', 16)).toEqual([
    '\u001b[31mred words\u001b[39m and',
    '  plain words',
  ])
})

test('a column that names itself stands below the first, JSON is broken, and a number keeps its unit', () => {
  expect(
    wrapMessage('  fix: write args.amount (svc lint --fix)   docs: svc explain policy/field-not-in-schema', 44),
  ).toBe(
    ['  fix: write args.amount (svc lint --fix)', '  docs: svc explain', '    policy/field-not-in-schema'].join('\n'),
  )
  expect(wrapMessage('5/5 a second run          stopped: run 4b1f0a has done it', 44)).toBe(
    ['5/5 a second run', '  stopped: run 4b1f0a has done it'].join('\n'),
  )
  expect(wrapMessage('completed  {"refunded":180,"currency":"EUR"}', 40)).toBe(
    ['completed  {"refunded":180,', '           "currency":"EUR"}'].join('\n'),
  )
  expect(wrapMessage('0 errors, 0 warnings in 7 files (1573 ms)', 40)).toBe(
    ['0 errors, 0 warnings in 7 files', '  (1573 ms)'].join('\n'),
  )
})
