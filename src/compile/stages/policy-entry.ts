/** A Policy document as an entry that is attached nowhere, to compare it with another version of itself. */
import type { JsonObject } from '../../base/json/json.ts'
import { namedField } from '../../policy/allow-field.ts'
import { readCondition, writeCondition } from '../../policy/condition/condition.ts'
import { entryIdOf } from '../../policy/policy-set.ts'
import type { PolicyDocument } from '../../spec/document.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import { policyEffectOf, obligationsOf } from './read-policy.ts'

/** Placeholder for the argument of an allow list that only a tool's schema determines. */
const SOME_ARGUMENT = 'args.value'

/** Undefined for a document without a decision or with an unreadable condition. */
export function standalonePolicyEntry(policy: string, { metadata, spec }: PolicyDocument): PolicyEntry | undefined {
  const { decision, conditions, allow, scope } = spec
  if (!decision) return undefined
  const when = conditions && canonicalCondition(conditions)
  if (conditions && !when) return undefined
  const effect = policyEffectOf(decision.type, allow)
  const message = decision.runtime?.['svc/message']
  const content: Omit<PolicyEntry, 'id'> = {
    policy,
    version: metadata.version,
    effect,
    ...(when && { when }),
    ...(effect === 'restrict' && {
      allow: {
        field: namedField(decision.runtime?.['svc/allow_field'] ?? null) ?? SOME_ARGUMENT,
        values: [...new Set(allow)].sort(),
      },
    }),
    obligations: obligationsOf(decision),
    ...(decision.reason !== undefined && { reason: decision.reason }),
    ...(typeof message === 'string' && { message }),
    ...(decision.authority_ref !== undefined && { authority_ref: decision.authority_ref }),
    ...(scope !== undefined && { scope: scope.replace(/^tool:/, '') }),
    origin: [],
  }
  return { ...content, id: entryIdOf(content) }
}

function canonicalCondition(conditions: JsonObject): JsonObject | undefined {
  const { condition } = readCondition(conditions)
  return condition && writeCondition(condition)
}
