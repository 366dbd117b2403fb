/** Results of tests of agents and policies in the formats that other tools read. */

export interface TestCase {
  /** File of the test, as people know it. */
  readonly file: string
  readonly name: string
  readonly ok: boolean
  /** What went wrong, line by line. */
  readonly failure: readonly string[]
  readonly ms: number
}

/** JUnit XML: a suite for each file. @param tool name of the whole, for example `svc test` */
export function reportJunit(cases: readonly TestCase[], tool: string): string {
  const suites = [...new Set(cases.map(({ file }) => file))].map((file) => {
    const own = cases.filter((each) => each.file === file)
    return `  <testsuite name="${xml(file)}" ${countsOf(own)}>\n${own.map(toTestCase).join('')}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(tool)}" ${countsOf(cases)}>\n${suites.join('')}</testsuites>`
}

const countsOf = (cases: readonly TestCase[]): string =>
  `tests="${cases.length}" failures="${cases.filter(({ ok }) => !ok).length}" time="${seconds(cases.reduce((sum, { ms }) => sum + ms, 0))}"`

function toTestCase({ file, name, ok, failure, ms }: TestCase): string {
  const head = `    <testcase classname="${xml(file)}" name="${xml(name)}" time="${seconds(ms)}"`
  if (ok) return `${head}/>\n`
  return `${head}><failure message="${xml(failure[0] ?? 'failed')}">${xml(failure.join('\n'))}</failure></testcase>\n`
}

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

const seconds = (ms: number): string => (ms / 1000).toFixed(3)
const tap = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('#', String.raw`\#`)

/** Without the control characters that XML 1.0 has no way to write. */
const xml = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
