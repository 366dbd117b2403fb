/** Results of tests of agents and policies in the formats that other tools read. */
import { junitXml } from '../../documents/report/junit-xml.ts'

export interface TestCase {
  /** File of the test, as people know it. */
  readonly file: string
  readonly name: string
  readonly ok: boolean
  /** What went wrong, line by line. */
  readonly failure: readonly string[]
  readonly ms: number
}

/** @param tool name of the whole, for example `svc test` */
export const reportTestsAsJunit = (cases: readonly TestCase[], tool: string): string =>
  junitXml(
    tool,
    cases.map(({ file, name, ok, failure, ms }) => ({
      file,
      name,
      ms,
      ...(!ok && { failure: { message: failure[0] ?? 'failed', text: failure.join('\n') } }),
    })),
  )

/** Test Anything Protocol, version 14. */
export const reportTap = (cases: readonly TestCase[]): string =>
  [
    'TAP version 14',
    `1..${cases.length}`,
    ...cases.flatMap(({ file, name, ok, failure }, at) => [
      `${ok ? 'ok' : 'not ok'} ${at + 1} - ${tap(`${file} › ${name}`)}`,
      ...(ok
        ? []
        : ['  ---', '  failure: |', ...failure.map((line) => `    ${line.replaceAll('\n', '\n    ')}`), '  ...']),
    ]),
  ].join('\n')

/** The failures for the log of a pipeline, whose report goes to a file. */
export const failureLines = (cases: readonly TestCase[]): readonly string[] =>
  cases
    .filter(({ ok }) => !ok)
    .map(
      ({ file, name, failure }) => `FAIL ${file} › ${name}${failure[0] === undefined ? '' : `   ${failure[0].trim()}`}`,
    )

const tap = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('#', String.raw`\#`)
