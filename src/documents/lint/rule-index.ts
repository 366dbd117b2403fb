/** The list of all rules, as Markdown. Each links to the folder of its examples; `svc explain` shows these. */
import type { NamedRule } from '../facts/rule.ts'
import { groupBy } from '../../base/values/collections.ts'

/** Text of `docs/rules.md`. */
export function ruleIndex(rules: readonly NamedRule[]): string {
  const groups = [...groupBy(rules, ({ name }) => name.slice(0, name.indexOf('/')))]
  const tables = groups.flatMap(([group, members]) => [`## ${group}`, indexTable(members)])
  return `${[INTRODUCTION, ...tables].join('\n\n')}\n`
}

const INTRODUCTION = `# Rules

What \`svc lint\` checks. \`svc explain RULE\` shows for each a wrong document, what \`svc lint\` prints for it, a right one and the fix; the links
lead to the same files. An error that is there *always* can be neither switched off nor suppressed, because nothing is compiled from
documents that have it. Generated from the rules.`

const indexTable = (rules: readonly NamedRule[]): string =>
  [
    '| rule | severity | law |',
    '|---|---|---|',
    ...rules.map(
      (rule) =>
        `| [${rule.name}](../test/documents/rules/${rule.name}) | ${gradeOf(rule)} | ${rule.law.replaceAll('|', '\\|')} |`,
    ),
  ].join('\n')

/** The severity of a rule, with when it is another one. */
function gradeOf({ severity, strict, strictOnly, essential }: NamedRule): string {
  if (essential) return `${severity} (always)`
  if (strictOnly) return `${severity} (strict only)`
  return strict === undefined ? severity : `${severity} (strict: ${strict})`
}
