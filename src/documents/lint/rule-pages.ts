/** The reference of all rules, as Markdown: an index and a page per group. */
import { cutText } from '../../base/cut-text.ts'
import type { NamedRule } from '../facts/rule.ts'
import { unifiedDiff } from '../fmt/diff.ts'
import type { RuleExamples } from '../generated/rule-examples.js'
import { groupBy } from '../text/group.ts'

/** Texts by path below `docs/`: `rules.md` and `rules/<group>.md`. */
export function rulePages(
  rules: readonly NamedRule[],
  examples: Readonly<Record<string, RuleExamples>>,
): Readonly<Record<string, string>> {
  const groups = [...groupBy(rules, ({ name }) => groupOf(name))]
  const index = groups.flatMap(([group, members]) => [`## [${group}](rules/${group}.md)`, indexTable(group, members)])
  const pages = groups.map(([group, members]) => [
    `rules/${group}.md`,
    joinBlocks([
      `# ${group}`,
      '[All rules](../rules.md). Generated from the rules and their tests.',
      ...members.map((rule) => rulePage(rule, examples[rule.name]!)),
    ]),
  ])
  return { 'rules.md': joinBlocks([INTRODUCTION, ...index]), ...Object.fromEntries(pages) }
}

const INTRODUCTION = `# Rules

What \`svc lint\` checks. Each group has a page with a wrong document per rule, what \`svc lint\` prints for it, and the change that fixes it;
\`svc explain RULE\` shows the same in the terminal. An error that is there *always* can be neither switched off nor suppressed, because nothing
is compiled from documents that have it. Generated from the rules and their tests.`

const joinBlocks = (blocks: readonly string[]): string => `${blocks.join('\n\n')}\n`

const groupOf = (name: string): string => name.slice(0, name.indexOf('/'))

const indexTable = (group: string, rules: readonly NamedRule[]): string =>
  [
    '| rule | severity | law |',
    '|---|---|---|',
    ...rules.map((rule) => {
      const link = `rules/${group}.md#${rule.name.replaceAll('/', '')}`
      return `| [${rule.name}](${link}) | ${gradeOf(rule)} | ${rule.law.replaceAll('|', '\\|')} |`
    }),
  ].join('\n')

function gradeOf({ severity, strict, strictOnly, essential }: NamedRule): string {
  if (essential) return `${severity} (always)`
  if (strictOnly) return `${severity} (strict only)`
  return strict === undefined ? severity : `${severity} (strict: ${strict})`
}

function rulePage(rule: NamedRule, { bad, output, good }: RuleExamples): string {
  return [
    `## ${rule.name}`,
    rule.law,
    rule.reason ?? [],
    `Severity: ${gradeOf(rule)}.${rule.source === undefined ? '' : ` Source: ${linkSource(rule.source)}.`}`,
    ...Object.entries(bad).map(([path, text]) => codeBlock(languageOf(path), `# ${path}\n${text}`)),
    '`svc lint` prints:',
    codeBlock('text', output),
    `Fix: ${rule.fix}`,
    codeBlock('diff', differences(bad, good)),
  ]
    .flat()
    .join('\n\n')
}

/** The pages about the public documents, below `docs/`. */
const DESIGN_PAGES: Readonly<Record<string, string>> = {
  'Authoring format': 'design/authoring-format.md',
  'HTTP API': 'design/http.md',
}

/** The source, with a link to the section that it begins with. */
function linkSource(source: string): string {
  const [named = '', document = '', section = ''] = /^(Authoring format|HTTP API), "([^"]+)"/.exec(source) ?? []
  const page = DESIGN_PAGES[document]
  if (page === undefined) return source
  const anchor = section
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
  return `[${named}](../${page}#${anchor})${source.slice(named.length)}`
}

/** Differences of all files. An example of one file is `bad.yaml`, and `good.yaml` or one of several files when it is right. */
function differences(bad: RuleExamples['bad'], good: RuleExamples['good']): string {
  const renamed = 'bad.yaml' in bad ? ['good.yaml', 'agent.yaml'].find((path) => path in good) : undefined
  const fixed = Object.fromEntries(
    Object.entries(good).map(([path, text]) => [path === renamed ? 'bad.yaml' : path, text]),
  )
  const paths = [...new Set([...Object.keys(bad), ...Object.keys(fixed)])]
  return paths.map((path) => unifiedDiff(path, bad[path] ?? '', fixed[path] ?? '')).join('')
}

const languageOf = (path: string): string => (path.endsWith('.json') ? 'json' : path.endsWith('.md') ? 'text' : 'yaml')

const codeBlock = (language: string, text: string): string => `\`\`\`${language}\n${visible(text.trimEnd())}\n\`\`\``

/** Invisible characters are written as escapes; long examples are cut. */
const visible = (text: string): string => {
  const seen = text.replaceAll(
    /[\u{E0000}-\u{E007F}\uFEFF\t]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16).toUpperCase()}}`,
  )
  return seen.length > 1200 ? `${cutText(seen, 400).text} …` : seen
}
