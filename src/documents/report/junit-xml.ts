/** JUnit XML, as CI systems read it. */
import { groupBy } from '../../base/values/collections.ts'

export interface JunitCase {
  readonly file: string
  readonly name: string
  readonly ms?: number
  readonly failure?: { readonly type?: string; readonly message: string; readonly text: string }
  /** Shown with a case that passes. */
  readonly note?: string
}

/** A suite for each file. @param tool name of the whole, for example `svc test` */
export function junitXml(tool: string, cases: readonly JunitCase[]): string {
  const suites = [...groupBy(cases, ({ file }) => file)].map(
    ([file, own]) => `  <testsuite name="${xml(file)}" ${countsOf(own)}>\n${own.map(caseXml).join('')}  </testsuite>\n`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(tool)}" ${countsOf(cases)}>\n${suites.join('')}</testsuites>`
}

function countsOf(cases: readonly JunitCase[]): string {
  const times = cases.flatMap(({ ms }) => ms ?? [])
  const time = times.length > 0 ? timeOf(times.reduce((sum, each) => sum + each)) : ''
  return `tests="${cases.length}" failures="${cases.filter(({ failure }) => failure).length}"${time}`
}

function caseXml({ file, name, ms, failure, note }: JunitCase): string {
  const head = `    <testcase classname="${xml(file)}" name="${xml(name)}"${ms === undefined ? '' : timeOf(ms)}`
  if (failure) {
    const type = failure.type === undefined ? '' : ` type="${xml(failure.type)}"`
    return `${head}><failure${type} message="${xml(failure.message)}">${xml(failure.text)}</failure></testcase>\n`
  }
  return note === undefined ? `${head}/>\n` : `${head}><system-out>${xml(note)}</system-out></testcase>\n`
}

const timeOf = (ms: number): string => ` time="${(ms / 1000).toFixed(3)}"`

/** Without the control characters that XML 1.0 has no way to write. */
const xml = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
    .replaceAll(/\p{Surrogate}/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
