/** What the calls that a policy gates may bring, by the input schemas of the tools. */
import { leavesOf, type Condition } from '../policy/condition.ts'
import { gatedBindings } from './attachments.ts'
import type { Document } from './document.ts'
import { inputOf } from './inputs.ts'
import { oncePerObject } from './once.ts'
import { mismatchOf } from './property.ts'
import { domainAt, type Domains } from './reasoning.ts'
import type { SchemaText } from './schemas.ts'

export interface KnownCalls {
  /** Logical id. */
  readonly tool: string
  readonly schema: SchemaText
  readonly domains: Domains
}

/** One entry a schema; undefined where the arguments of one of them are not known. */
export const domainsOf = oncePerObject((workspace, policy: Document): readonly KnownCalls[] | undefined => {
  const known: KnownCalls[] = []
  for (const use of gatedBindings(workspace, policy)) {
    const schema = inputOf(workspace, use)
    if (schema === undefined) return undefined
    if (known.some((each) => each.schema === schema)) continue
    known.push({
      tool: use.ref?.id ?? '',
      schema,
      domains: (path) => (path.root === 'args' ? domainAt(schema.value, path.segments) : undefined),
    })
  }
  return known
})

/** True where a comparison is with another type: another rule says that. */
export const mismatched = (known: readonly KnownCalls[], condition: Condition): boolean =>
  leavesOf(condition).some(
    (leaf) =>
      leaf.path.root === 'args' &&
      leaf.path.fn === undefined &&
      known.some(({ schema }) => mismatchOf(schema.value, leaf) !== undefined),
  )
