/** Policies that apply to every call to which another policy applies. Source: docs/design/policies.md#the-decision */
import { leavesOf, type Condition } from '../../../policy/condition/condition.ts'
import { isSpread } from '../../../policy/condition/path.ts'
import { gatedBindings, scopeOf } from './attachments.ts'
import { conditionOf } from './conditions.ts'
import { decisionOf } from './decision.ts'
import type { Document } from '../../text/document.ts'
import { conditionImplies, isSatisfiable } from '../../../policy/prove/conditions.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { onlyItem } from '../../../base/values/collections.ts'

/**
 * A policy of one of the types `over` that fires for every call for which this one, of one of the types `of`, fires.
 * Of two equal policies the later one is covered. Compares only conditions on a single field, so that both are unknown for the
 * same calls.
 */
export function coveringPolicy(
  workspace: Workspace,
  policy: Document,
  of: readonly string[],
  over: readonly string[],
): Document | undefined {
  if (!isOf(policy, of)) return undefined
  const own = conditionOf(policy)
  const calls = gatedBindings(workspace, policy)
  if (own === undefined || calls.length === 0 || fieldOf(own) === undefined || !isSatisfiable(own)) return undefined
  // A policy that gates the same calls is published together with this one.
  return workspace.publishedTogether(policy).find((other) => {
    if (other === policy || other.kind !== 'Policy' || !isOf(other, over)) return false
    const condition = conditionOf(other)
    const reached = gatedBindings(workspace, other)
    if (!calls.every((use) => reached.some((each) => each.agent === use.agent && each.pointer === use.pointer)))
      return false
    if (condition === undefined) return other.at('spec.conditions').length === 0 && scopeOf(other) === scopeOf(policy)
    if (fieldOf(condition) !== fieldOf(own) || !conditionImplies(own, condition)) return false
    const equal = conditionImplies(condition, own) && isOf(other, of)
    return !equal || workspace.documents.indexOf(other) < workspace.documents.indexOf(policy)
  })
}

function isOf(policy: Document, types: readonly string[]): boolean {
  const { type } = decisionOf(policy)
  return policy.kind === 'Policy' && typeof type === 'string' && types.includes(type)
}

/** The one field that is read, with what absence counts as; undefined where there are several, or elements of a list. */
function fieldOf(condition: Condition): string | undefined {
  const leaves = leavesOf(condition)
  if (leaves.some(({ windowMs, path }) => windowMs !== undefined || isSpread(path))) return undefined
  return onlyItem([...new Set(leaves.map(({ path, ifMissing }) => `${path.text} ${String(ifMissing)}`))])
}
