/** The reference page of all rules, as Markdown. `docs/rules.md` is this text; a test holds it. */
import type { RuleExample, LintRule } from '../facts/rule.ts'

export function rulePages(rules: readonly LintRule[]): string {
  const families = [...new Set(rules.map(({ name }) => familyOf(name)))]
  const rows = rules.map(
    (rule) => `| [${rule.name}](#${anchorOf(rule.name)}) | ${gradeOf(rule)} | ${rule.law.replaceAll('|', '\\|')} |`,
  )
  const pages = families.flatMap((family) => [
    `## ${family}`,
    ...rules.filter(({ name }) => familyOf(name) === family).map(pageOf),
  ])
  return `${[INTRODUCTION, ['| rule | severity | law |', '|---|---|---|', ...rows].join('\n'), ...pages].join('\n\n')}\n`
}

const INTRODUCTION = `# Rules

What \`svc lint\` checks. This page is generated from the rules (\`scripts/rules.js\`); \`svc explain RULE\` prints one of them.
Examples leave out what plays no part: \`apiVersion\`, \`metadata\` and required keys of \`spec\`.`

const familyOf = (name: string): string => name.slice(0, name.indexOf('/'))
const anchorOf = (name: string): string => name.replaceAll('/', '')

function gradeOf({ severity, strict, strictOnly }: LintRule): string {
  if (strictOnly) return `${severity} (strict only)`
  return strict === undefined ? severity : `${severity} (strict: ${strict})`
}

function pageOf(rule: LintRule): string {
  return [
    `### ${rule.name}`,
    rule.law,
    `Severity: ${gradeOf(rule)}. Source: ${rule.source}.`,
    ...exampleOf('Bad', rule.bad),
    ...exampleOf('Good', rule.good),
    `Fix: ${rule.fix}`,
  ].join('\n\n')
}

function exampleOf(title: string, example: RuleExample): string[] {
  const files = Object.entries(example)
  if (files.length === 0) return []
  return [
    `${title}:`,
    ...files.map(([path, text]) => {
      const shown = visible(text.trimEnd())
      return `\`\`\`${path.endsWith('.json') ? 'json' : path.endsWith('.md') ? 'text' : 'yaml'}\n# ${path}\n${shown}\n\`\`\``
    }),
  ]
}

/** What nobody would see on the page is written as an escape; examples of many entries are cut. */
const visible = (text: string): string => {
  const seen = text.replaceAll(
    /[\u{E0000}-\u{E007F}\uFEFF\t]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16).toUpperCase()}}`,
  )
  return seen.length > 1200 ? `${seen.slice(0, 400)} …` : seen
}
