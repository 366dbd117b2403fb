/** Hover text for the word under the cursor, in Markdown. */
import type { Diagnostic } from '../text/diagnostic.ts'
import { ruleExamples } from '../generated/rule-examples.js'
import { findRule } from '../lint/lint.ts'
import type { NamedRule } from '../facts/rule.ts'
import { cursorAt } from './cursor.ts'
import { fieldAt, type Field } from './field.ts'

/** The pages of the rules broken at the offset and of the field; undefined where there are none. */
export function hoverAt(text: string, offset: number, findings: readonly Diagnostic[]): string | undefined {
  const broken = findings.filter(
    ({ range }) => range.start.offset <= offset && offset <= Math.max(range.end.offset, range.start.offset + 1),
  )
  const { kind, path, key } = cursorAt(text, offset)
  const place = key === undefined ? path : [...path, key]
  const field = kind === undefined || place.length === 0 ? undefined : fieldAt(kind, place)
  const rules = [...new Set(broken.map(({ rule }) => findRule(rule)))].filter((rule) => rule !== undefined)
  const pages = [...rules.map(rulePage), ...(field === undefined ? [] : [fieldPage(place, field)])]
  return pages.length === 0 ? undefined : pages.join('\n\n---\n\n')
}

function fieldPage(place: readonly string[], field: Field): string {
  const name = place.join('.').replaceAll('.*', '[]')
  const traits = [
    field.type,
    field.required && 'required',
    field.default !== undefined && `default \`${field.default}\``,
  ]
  return [
    `**${name}** ${traits.filter((each) => each !== undefined && each !== false).join(', ')}`.trimEnd(),
    ...(field.description === undefined ? [] : [field.description]),
    ...(field.values === undefined ? [] : [`One of ${field.values.map((each) => `\`${each}\``).join(', ')}.`]),
  ].join('\n\n')
}

function rulePage({ name, severity, law, fix, source }: NamedRule): string {
  const examples = Object.entries(ruleExamples[name]?.good ?? {}).map(
    ([path, text]) => `\`\`\`yaml\n# ${path}\n${text.trimEnd()}\n\`\`\``,
  )
  return [
    `**${name}** ${severity}`,
    law,
    fix,
    ...examples,
    `Source: ${source}. \`svc explain ${name}\` shows more.`,
  ].join('\n\n')
}
