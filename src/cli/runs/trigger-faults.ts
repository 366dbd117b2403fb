import { safeText } from '../../base/escape-text.ts'
import type { TriggerView } from '../../operations/triggers.ts'

/** Why a schedule starts no runs, in sentences. */
export const describeTriggerFaults = ({ agent, name, refused, inputProblem }: TriggerView): readonly string[] => [
  ...(refused === null
    ? []
    : [safeText(`${agent} / ${name}: the tick of ${refused.at} was refused: ${refused.message}`)]),
  ...(inputProblem === null ? [] : [safeText(`${agent} / ${name}: its next tick will be refused: ${inputProblem}`)]),
]
