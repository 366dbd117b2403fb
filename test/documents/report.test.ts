import { describe, expect, test } from 'vitest'
import { createFinding, type Diagnostic } from '../../src/documents/text/diagnostic.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { reportFormats } from '../../src/documents/report/formats.ts'

const files = {
  'policies/large.yaml': `apiVersion: svc/v1
kind: Policy
metadata: {name: large, namespace: pay, version: "1.0.0"}
spec:
  decision: {type: deny}
  conditions:
    {field: args.amount, op: gt, value: "500"}
`,
  'tools/refund.yaml': `apiVersion: svc/v1
kind: Tool
metadata: {name: refund, namespace: pay, version: "1.0.0"}
spec: {side_effect_class: read_only}
`,
}
const workspace = loadFiles(files)
const [policy, tool] = workspace.documents
const mismatch = createFinding(
  'policy/type-mismatch',
  'error',
  policy!.placeOf('/spec/conditions/value'),
  '`gt` compares numbers; value "500" is a string.',
  {
    why: 'Every call would be stopped.',
    fix: {
      description: 'Write 500.',
      edits: [{ path: 'policies/large.yaml', range: policy!.spanOf('/spec/conditions/value')!, text: '500' }],
    },
    related: [
      {
        path: 'tools/refund.yaml',
        range: tool!.spanOf('/spec/side_effect_class')!,
        message: 'args.amount is `type: number` here',
      },
    ],
  },
)
const unused = createFinding(
  'tool/unused-document',
  'warning',
  tool!.placeOf('/kind'),
  'Nobody binds 100% of "<this>".',
)
const findings: Diagnostic[] = [mismatch, unused]
const report = (format: keyof typeof reportFormats, given = findings): string =>
  reportFormats[format](given, { workspace })

test('text shows the line, what is wrong in it, and the other half', () => {
  expect(report('text')).toBe(`policies/large.yaml:7:41  error  policy/type-mismatch
  \`gt\` compares numbers; value "500" is a string.
     6 |   conditions:
     7 |     {field: args.amount, op: gt, value: "500"}
       |                                         ^^^^^
   tools/refund.yaml:4:27  args.amount is \`type: number\` here
  why: every call would be stopped
  fix: write 500 (svc lint --fix)   docs: svc explain policy/type-mismatch

tools/refund.yaml:2:7  warn  tool/unused-document
  Nobody binds 100% of "<this>".
     1 | apiVersion: svc/v1
     2 | kind: Tool
       |       ^^^^
  docs: svc explain tool/unused-document
`)
})

test('text cannot be made to draw what the document says', () => {
  const hostile = loadFiles(
    { 'a.yaml': 'apiVersion: svc/v1\nkind: "\\e[2J \u202E \u001B[31mred"\n' },
    { focus: ['a.yaml'] },
  )
  const text = reportFormats.text(hostile.findings, { workspace: hostile })
  // oxlint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\u001B\u202E]/)
})

test('text underlines wide characters and long lines where they stand', () => {
  const wide = loadFiles({
    'a.yaml': `apiVersion: svc/v1\nkind: Tool\nmetadata: {name: "漢字", namespace: n, version: v1}\nspec: {description: ${'x'.repeat(300)}, descripton: y}\n`,
  })
  const tool = wide.documents[0]!
  const at = (pointer: string): string[] =>
    reportFormats
      .text([createFinding('doc/schema', 'error', tool.placeOf(pointer), 'm')], { workspace: wide })
      .split('\n')
  const [line, marks] = at('/metadata/namespace').slice(3, 5)
  expect(line).toBe('     3 | metadata: {name: "漢字", namespace: n, version: v1}')
  expect(marks).toBe(`       | ${' '.repeat('metadata: {name: "....", namespace: '.length)}^`)
  const [long, under] = at('/spec/descripton').slice(2, 4)
  expect(long!.length).toBeLessThan(140)
  expect(long!.slice(under!.indexOf('^'), under!.lastIndexOf('^') + 1)).toBe('y')
})

test('compact is one line for each', () => {
  expect(report('compact'))
    .toBe(`policies/large.yaml:7:41  error  policy/type-mismatch  \`gt\` compares numbers; value "500" is a string.
tools/refund.yaml:2:7  warn   tool/unused-document  Nobody binds 100% of "<this>".
`)
})

test('json is one document with counts and everything that is known', () => {
  expect(JSON.parse(report('json'))).toEqual({
    ok: false,
    files: 2,
    errors: 1,
    warnings: 1,
    fixable: 1,
    diagnostics: [
      {
        rule: 'policy/type-mismatch',
        severity: 'error',
        message: '`gt` compares numbers; value "500" is a string.',
        why: 'Every call would be stopped.',
        fix: {
          description: 'Write 500.',
          edits: [
            {
              path: 'policies/large.yaml',
              range: { start: { line: 7, column: 41, offset: 175 }, end: { line: 7, column: 46, offset: 180 } },
              text: '500',
            },
          ],
        },
        path: 'policies/large.yaml',
        pointer: '/spec/conditions/value',
        range: { start: { line: 7, column: 41, offset: 175 }, end: { line: 7, column: 46, offset: 180 } },
        related: [
          {
            path: 'tools/refund.yaml',
            range: { start: { line: 4, column: 27, offset: 115 }, end: { line: 4, column: 36, offset: 124 } },
            message: 'args.amount is `type: number` here',
          },
        ],
        docs: 'svc explain policy/type-mismatch',
      },
      {
        rule: 'tool/unused-document',
        severity: 'warning',
        message: 'Nobody binds 100% of "<this>".',
        path: 'tools/refund.yaml',
        pointer: '/kind',
        range: { start: { line: 2, column: 7, offset: 25 }, end: { line: 2, column: 11, offset: 29 } },
        related: [],
        docs: 'svc explain tool/unused-document',
      },
    ],
  })
})

test('github annotates, with what its commands cannot hold escaped', () => {
  expect(report('github'))
    .toBe(`::error file=policies/large.yaml,line=7,endLine=7,col=41,endColumn=46,title=policy/type-mismatch::\`gt\` compares numbers; value "500" is a string. Write 500.
::warning file=tools/refund.yaml,line=2,endLine=2,col=7,endColumn=11,title=tool/unused-document::Nobody binds 100%25 of "<this>".
`)
})

test('and nothing in it that would colour the log of the job', () => {
  const message = 'Is \u001b[31mred\u001b[0m,\nor \u0007 not.'
  expect(reportFormats.github([{ ...mismatch, message, severity: 'warning' }])).toBe(
    '::warning file=policies/large.yaml,line=7,endLine=7,col=41,endColumn=46,title=policy/type-mismatch::Is red,%0Aor \\x07 not. Write 500.\n',
  )
})

test('sarif names rules, places and the other half', () => {
  const log = JSON.parse(report('sarif'))
  expect(log.version).toBe('2.1.0')
  expect(log.runs[0].tool.driver).toEqual({
    name: 'svc',
    rules: [
      {
        id: 'policy/type-mismatch',
        shortDescription: { text: 'A condition compares values of the same type.' },
        help: { text: 'Write a value of the type of the argument. See: svc explain policy/type-mismatch' },
        defaultConfiguration: { level: 'error' },
      },
      {
        id: 'tool/unused-document',
        shortDescription: { text: 'Each Tool document of a bundle is bound by one of its agents.' },
        help: { text: 'Bind the tool in an agent, or remove the document. See: svc explain tool/unused-document' },
        defaultConfiguration: { level: 'note' },
      },
    ],
  })
  expect(log.runs[0].results[0]).toEqual({
    ruleId: 'policy/type-mismatch',
    ruleIndex: 0,
    level: 'error',
    message: { text: '`gt` compares numbers; value "500" is a string. Write 500.' },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: 'policies/large.yaml' },
          region: { startLine: 7, startColumn: 41, endLine: 7, endColumn: 46, charOffset: 175, charLength: 5 },
        },
      },
    ],
    partialFingerprints: { 'svcFault/v1': expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    relatedLocations: [
      {
        id: 0,
        physicalLocation: {
          artifactLocation: { uri: 'tools/refund.yaml' },
          region: { startLine: 4, startColumn: 27, endLine: 4, endColumn: 36, charOffset: 115, charLength: 9 },
        },
        message: { text: 'args.amount is `type: number` here' },
      },
    ],
  })
})

test('gitlab keeps the fingerprint of a finding while lines move', () => {
  const [first] = JSON.parse(report('gitlab'))
  const moved = {
    ...mismatch,
    range: { start: { ...mismatch.range.start, line: 90 }, end: { ...mismatch.range.end, line: 90 } },
  }
  const [second] = JSON.parse(report('gitlab', [moved]))
  expect(first).toEqual({
    description: mismatch.message,
    check_name: 'policy/type-mismatch',
    fingerprint: second.fingerprint,
    severity: 'major',
    location: { path: 'policies/large.yaml', lines: { begin: 7, end: 7 } },
  })
  expect(second.location.lines).toEqual({ begin: 90, end: 90 })
})

test('junit has a suite for each file, and passes a clean one', () => {
  expect(report('junit', [unused])).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="svc lint" tests="2" failures="1">
  <testsuite name="policies/large.yaml" tests="1" failures="0">
    <testcase classname="policies/large.yaml" name="svc lint"/>
  </testsuite>
  <testsuite name="tools/refund.yaml" tests="1" failures="1">
    <testcase classname="tools/refund.yaml" name="tool/unused-document at 2:7"><failure type="warning" message="Nobody binds 100% of &quot;&lt;this&gt;&quot;.">tools/refund.yaml:2:7 Nobody binds 100% of &quot;&lt;this&gt;&quot;.</failure></testcase>
  </testsuite>
</testsuites>
`)
})

test('junit passes no file that nobody asked about', () => {
  expect(reportFormats.junit([], { workspace: loadFiles(files, { focus: ['tools'] }) })).toBe(
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="svc lint" tests="1" failures="0">
  <testsuite name="tools/refund.yaml" tests="1" failures="0">
    <testcase classname="tools/refund.yaml" name="svc lint"/>
  </testsuite>
</testsuites>
`,
  )
})

describe('without findings', () => {
  test.each([
    ['text', ''],
    ['compact', ''],
    ['github', ''],
    ['json', '{"ok":true,"files":2,"errors":0,"warnings":0,"fixable":0,"diagnostics":[]}\n'],
    ['gitlab', '[]\n'],
  ] as const)('%s says so', (format, expected) => {
    expect(report(format, [])).toBe(expected)
  })
})

test('no credential is shown, neither where it is reported nor beside another finding', () => {
  const key = `sk-ant-api03-${'aB3dE6gH9'.repeat(4)}`
  const password = 'qX7vR2mK9pL4zT8w'
  const leaking = loadFiles({
    'a.yaml': `apiVersion: svc/v1
kind: Agent
metadata: {name: a, namespace: b, version: 1.0.0}
spec:
  purpose: Helps.
  instructions:
    text: Use ${key} and password = "${password}" at https://me:${password}@host, or svc_${'Zq8Wm3Rt6Yp1'.repeat(2)}.
  modle: {provider: scripted, name: x}
`,
  })
  const text = reportFormats.text(lintWorkspace(leaking), { workspace: leaking })
  for (const secret of [key, password, 'Zq8Wm3Rt6Yp1']) expect(text).not.toContain(secret)
  const [line] = text.split('\n').filter((each) => each.startsWith('     7 | '))
  expect(line).toBe(
    `     7 |     text: Use sk-ant${'*'.repeat(key.length - 6)} and password = "qX7v${'*'.repeat(12)}" at https:${'*'.repeat(22)}host`.slice(
      0,
      129,
    ),
  )
})
