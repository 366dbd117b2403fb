import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { EFFECT_KEY } from '../../../policy/condition/effect-key.ts'
import { effectTemplateOf, keyArguments, labelPointer, type KeyArgument } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolEffectKeyUnstable: LintRule = {
  severity: 'warning',
  law: 'An effect key names required arguments that identify something, not free text.',
  fix: 'Use an identifier: `{args.order}` in place of `{args.note}`.',
  reason: 'Two spellings of a text are two keys, and a call without the argument always needs a person.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    const template = effectTemplateOf(document)
    if (template === undefined) return
    for (const argument of keyArguments(workspace, document, template)) {
      if (argument.isOptional)
        report(labelPointer(EFFECT_KEY), `${argument.path} is optional; a call without it needs a person.`)
      else if (isFreeText(argument))
        report(labelPointer(EFFECT_KEY), `${argument.path} is free text; another spelling is another key.`)
    }
  },
}

/** Free texts, whose spelling no schema fixes: a model may word them differently each time. */
const isFreeText = ({ segments, schema }: KeyArgument): boolean => {
  const last = segments.at(-1)
  return last !== undefined && 'key' in last && WORDED.test(last.key) && isPlainText(schema)
}

const WORDED =
  /(?:^|_)(?:note|notes|comment|message|reason|description|text|body|subject|title|memo|summary|content|query|purpose|details|remarks?)$|(?:Note|Comment|Message|Reason|Description|Text|Body|Subject|Title|Summary)$/

const isPlainText = (schema: JsonValue | undefined): boolean =>
  isJsonObject(schema) &&
  schema['type'] === 'string' &&
  ['enum', 'const', 'pattern', 'format'].every((keyword) => schema[keyword] === undefined)
