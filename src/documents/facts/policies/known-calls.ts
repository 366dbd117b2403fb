/** The possible arguments of the calls that a policy gates, by the input schemas of the tools. */
import { possibleValuesUnder, type PossibleValuesAt } from '../../../policy/prove/possible-values.ts'
import { gatedBindings } from './attachments.ts'
import type { Document } from '../../text/document.ts'
import { inputOf } from '../agents/inputs.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import type { SchemaText } from '../../schemas/schemas.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export interface KnownCalls {
  /** Logical id. */
  readonly tool: string
  readonly schema: SchemaText
  readonly domains: PossibleValuesAt
}

/** One entry a schema; undefined where the arguments of one of them are not known. */
export function domainsOf(workspace: Workspace, policy: Document): readonly KnownCalls[] | undefined {
  const { known, complete } = callsOf(workspace, policy)
  return complete ? known : undefined
}

/** One entry a schema, in so far as schemas are known. */
export const knownCallsOf = (workspace: Workspace, policy: Document): readonly KnownCalls[] =>
  callsOf(workspace, policy).known

interface PolicyCalls {
  readonly known: readonly KnownCalls[]
  /** False if the arguments of some calls are unknown. */
  readonly complete: boolean
}

const callsOf = memoizePerObject((workspace, policy: Document): PolicyCalls => {
  const known: KnownCalls[] = []
  let complete = true
  for (const use of gatedBindings(workspace, policy)) {
    const schema = inputOf(workspace, use)
    if (schema === undefined) complete = false
    else if (!known.some((each) => each.schema === schema))
      known.push({
        tool: use.ref?.id ?? '',
        schema,
        domains: possibleValuesUnder(schema.value),
      })
  }
  return { known, complete }
})
