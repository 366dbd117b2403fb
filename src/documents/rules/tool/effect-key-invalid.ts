import { readDuration } from '../../../policy/condition/duration.ts'
import { EFFECT_KEY, EFFECT_REPEAT, EFFECT_WINDOW, KEY_NOUN } from '../../../policy/condition/effect-key.ts'
import { EFFECT_REPEATS } from '../../../spec/effect.ts'
import { checkArgumentLabel } from '../../facts/argument-label.ts'
import { labelOfTool, labelPointer } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { nearestCandidate } from '../../text/suggest.ts'

export const toolEffectKeyInvalid: LintRule = {
  severity: 'error',
  law: 'The placeholders of `svc/effect-key` are arguments, `svc/effect-window` is a duration, `svc/effect-repeat` is ask, refuse or return, and both need a key.',
  fix: 'Name an argument, `{args.order}`; write a duration such as 90d.',
  reason: 'A key that cannot be computed stops no repetition.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    const [key, window, repeat] = [EFFECT_KEY, EFFECT_WINDOW, EFFECT_REPEAT].map((name) => labelOfTool(document, name))
    if (window !== undefined && readDuration(window) === undefined)
      report(labelPointer(EFFECT_WINDOW), `"${window}" is no duration between 1ms and 366d.`)
    if (repeat !== undefined && !EFFECT_REPEATS.some((each) => each === repeat)) {
      const near = nearestCandidate(repeat, EFFECT_REPEATS)
      report(labelPointer(EFFECT_REPEAT), `"${repeat}" is none of ${EFFECT_REPEATS.join(', ')}.`, {
        ...(near !== undefined && { fix: replaceScalarFix(document.placeOf(labelPointer(EFFECT_REPEAT)), near) }),
      })
    }
    if (key === undefined) {
      for (const [name, value] of [
        [EFFECT_WINDOW, window],
        [EFFECT_REPEAT, repeat],
      ] as const)
        if (value !== undefined) report(labelPointer(name), `${name} needs an ${EFFECT_KEY}.`)
      return
    }
    checkArgumentLabel(document, report, { workspace, label: EFFECT_KEY, noun: KEY_NOUN })
  },
}
