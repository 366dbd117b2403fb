/** The reference page of all rules, as Markdown. `docs/rules.md` is this text; a test holds it. */
import type { LintRule } from '../facts/rule.ts'
import type { RuleExamples } from '../generated/rule-examples.js'

export function rulePages(rules: readonly LintRule[], examples: Readonly<Record<string, RuleExamples>>): string {
  const families = [...new Set(rules.map(({ name }) => familyOf(name)))]
  const rows = rules.map(
    (rule) => `| [${rule.name}](#${anchorOf(rule.name)}) | ${gradeOf(rule)} | ${rule.law.replaceAll('|', '\\|')} |`,
  )
  const pages = families.flatMap((family) => [
    `## ${family}`,
    ...rules.filter(({ name }) => familyOf(name) === family).map((rule) => pageOf(rule, examples[rule.name]!)),
  ])
  return `${[INTRODUCTION, ['| rule | severity | law |', '|---|---|---|', ...rows].join('\n'), ...pages].join('\n\n')}\n`
}

const INTRODUCTION = `# Rules

What \`svc lint\` checks. This page is generated from the rules (\`scripts/rules.js\`); \`svc explain RULE\` prints one of them.
The examples are tests: below a bad one stands what \`svc lint\` prints for it.`

const familyOf = (name: string): string => name.slice(0, name.indexOf('/'))
const anchorOf = (name: string): string => name.replaceAll('/', '')

function gradeOf({ severity, strict, strictOnly }: LintRule): string {
  if (strictOnly) return `${severity} (strict only)`
  return strict === undefined ? severity : `${severity} (strict: ${strict})`
}

function pageOf(rule: LintRule, { bad, output, good }: RuleExamples): string {
  return [
    `### ${rule.name}`,
    rule.law,
    `Severity: ${gradeOf(rule)}. Source: ${rule.source}.`,
    ...exampleOf('Bad', bad),
    `\`svc lint\` prints:\n\n\`\`\`text\n${visible(output.trimEnd())}\n\`\`\``,
    ...exampleOf('Good', good),
    `Fix: ${rule.fix}`,
  ].join('\n\n')
}

function exampleOf(title: string, example: RuleExamples['bad']): string[] {
  const files = Object.entries(example)
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
