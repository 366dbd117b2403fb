import { failures } from '../../base/failure.ts'
import type { FailureRow } from '../../base/failures/failure-row.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { ownMember } from '../../base/json/own-member.ts'
import type { TriggerView } from '../../operations/triggers.ts'

interface TriggerFault {
  /** A sentence. */
  readonly what: string
  readonly fix: string | undefined
}

/** Why a schedule starts no runs. */
export const findTriggerFaults = (trigger: TriggerView): readonly TriggerFault[] => {
  const { agent, name, refused, inputProblem, inputProblemCode } = trigger
  const about = (code: string | null, why: string): TriggerFault => ({
    what: safeText(`${agent} / ${name}: ${why}`),
    fix: remedyFor(code),
  })
  return [
    ...(refused === null ? [] : [about(refused.code, `the tick of ${refused.at} was refused: ${refused.message}`)]),
    ...(inputProblem === null ? [] : [about(inputProblemCode, `its next tick will be refused: ${inputProblem}`)]),
  ]
}

/** A schedule is mended where it is set up only if its input is wrong; anything else is mended as for every start. */
const remedyFor = (code: string | null): string | undefined =>
  code === 'input_contract_violation'
    ? 'svc triggers update TRIGGER --input JSON'
    : ownMember<FailureRow>(failures, code ?? '')?.fix
