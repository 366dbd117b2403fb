/** What the calls that a policy gates may bring, by the input schemas of the tools. */
import { leavesOf, type Condition } from '../policy/condition.ts'
import { gatedBindings } from './attachments.ts'
import type { Document } from './document.ts'
import { inputOf } from './inputs.ts'
import { oncePerObject } from './once.ts'
import { mismatchOf } from './property.ts'
import { domainAt, type Domains } from './reasoning.ts'
import type { SchemaText } from './schemas.ts'
import type { Workspace } from './workspace.ts'

export interface KnownCalls {
  /** Logical id. */
  readonly tool: string
  readonly schema: SchemaText
  readonly domains: Domains
}

/** One entry a schema; undefined where the arguments of one of them are not known. */
export function domainsOf(workspace: Workspace, policy: Document): readonly KnownCalls[] | undefined {
  const { known, complete } = callsOf(workspace, policy)
  return complete ? known : undefined
}

/** One entry a schema, in so far as schemas are known. */
export const knownCallsOf = (workspace: Workspace, policy: Document): readonly KnownCalls[] =>
  callsOf(workspace, policy).known

interface Calls {
  readonly known: readonly KnownCalls[]
  /** False where some of the calls bring what is not known. */
  readonly complete: boolean
}

const callsOf = oncePerObject((workspace, policy: Document): Calls => {
  const known: KnownCalls[] = []
  let complete = true
  const uses = gatedBindings(workspace, policy)
  for (let at = 0; at < uses.length; at++) {
    const use = uses[at]!
    const schema = inputOf(workspace, use)
    if (schema === undefined) complete = false
    else if (!known.some((each) => each.schema === schema))
      known.push({
        tool: use.ref?.id ?? '',
        schema,
        domains: domainsIn(schema),
      })
  }
  return { known, complete }
})

/** What a schema says of each argument, found once: several rules ask. */
function domainsIn({ value }: SchemaText): Domains {
  const known = new Map<string, ReturnType<Domains>>()
  return ({ root, text, segments }) => {
    if (root !== 'args') return undefined
    let domain = known.get(text)
    if (domain === undefined) {
      domain = domainAt(value, segments)
      known.set(text, domain)
    }
    return domain
  }
}

/** True where a comparison is with another type: another rule says that. */
export const mismatched = (known: readonly KnownCalls[], condition: Condition): boolean =>
  leavesOf(condition).some(
    (leaf) =>
      leaf.path.root === 'args' &&
      leaf.path.fn === undefined &&
      known.some(({ schema }) => mismatchOf(schema.value, leaf) !== undefined),
  )
