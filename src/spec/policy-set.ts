/**
 * The compiled policies of one agent version: everything that the runtime evaluates.
 * Written by `compile`, read by `policy`.
 * Source: docs/design/policies.md#which-policies-apply
 */
import type { Digest } from '../base/digest.ts'
import type { JsonObject } from '../base/json/json.ts'
import type { DecisionProof } from './people/decision-proof.ts'

/** The effect of an entry. `block` has become `deny`; an allow-list is `restrict`; an allow without a list is `grant`. */
export type PolicyEffect = 'grant' | 'restrict' | 'require_approval' | 'escalate' | 'deny'

/** Requirements for approvals, and what happens at the timeout. Absent = not set in the document. */
export interface ApprovalObligations {
  readonly approvals_required?: number
  readonly comprehension_required?: boolean
  readonly timeout?: { readonly after_minutes: number; readonly default: 'deny' | 'allow' | 'escalate' }
  readonly on_reject?: 'return_to_agent' | 'fail'
  readonly on_modify?: 'revalidate' | 'accept' | 'reject'
  readonly approver_role?: string
  readonly separation_of_duties?: boolean
  /** The least proof of an approval that counts (`svc/approval_proof`); absent = none. */
  readonly approval_proof?: DecisionProof
  /** Calls that cannot be undone may be approved together with others (`svc/bulk`). */
  readonly bulk?: boolean
  /** Name under which an operator can end a grant at once (`svc/standing`). */
  readonly standing?: string
}

/** Where an entry comes from. `path` and `pointer` are for people and take no part in any digest. */
export interface PolicyOrigin {
  readonly kind: 'boundary' | 'default' | 'tool_default' | 'binding' | 'guardrail' | 'synthetic' | 'ancestor'
  readonly boundary?: string
  /** `namespace.name@version` of the Policy document; absent for synthetic entries. */
  readonly doc?: string
  readonly path?: string
  /** Line of the document's decision, 1-based. */
  readonly line?: number
  readonly pointer?: string
  readonly digest?: Digest
}

export interface PolicyEntry {
  /** Digest of the entry's content: the same rule from two documents is one entry with two origins. */
  readonly id: Digest
  /** `namespace.name` of the policy; `svc.<boundary>` for synthetic entries. */
  readonly policy: string
  readonly version: string
  readonly effect: PolicyEffect
  /** Canonical condition tree; absent = always true. */
  readonly when?: JsonObject
  /** For `restrict`: the argument that is checked and the values it may have. */
  readonly allow?: { readonly field: string; readonly values: readonly string[] }
  readonly obligations: ApprovalObligations
  readonly reason?: string
  /** Shown to the model on deny in place of the reason. */
  readonly message?: string
  readonly authority_ref?: string
  /** Logical tool id that `scope` names; absent = every call to which the entry is attached. */
  readonly scope?: string
  readonly origin: readonly PolicyOrigin[]
}

export interface PolicySet {
  readonly v: 1
  readonly compiler: string
  /** `namespace.name` of the agent. */
  readonly agent: string
  readonly entries: readonly PolicyEntry[]
  /** Wire name of each binding -> ids of the entries that apply to it. */
  readonly index: Readonly<Record<string, readonly Digest[]>>
  /** Entries that apply to calls of descendants too: the gates of this agent's boundaries. */
  readonly inherited: readonly Digest[]
  /** Digest of everything above but paths, lines and pointers. */
  readonly digest: Digest
}

/**
 * The entries that apply to a call, each once: those of the agent itself, then the gates and allow lists that it inherits. Grants
 * of ancestors do not apply.
 * @param ancestors sets of the agents that delegate to it, nearest first
 * @param call its wire name, and the logical id of the called tool or agent
 */
export function entriesForCall(
  own: PolicySet,
  ancestors: readonly PolicySet[],
  call: { readonly wire: string; readonly id: string },
): readonly { readonly entry: PolicyEntry; readonly from: PolicySet }[] {
  const ids = new Set(own.index[call.wire])
  const found = new Map(own.entries.filter(({ id }) => ids.has(id)).map((entry) => [entry.id, { entry, from: own }]))
  for (const from of ancestors)
    for (const entry of from.entries) {
      const { id, effect, scope = call.id } = entry
      if (effect !== 'grant' && scope === call.id && from.inherited.includes(id) && !found.has(id))
        found.set(id, { entry, from })
    }
  return [...found.values()]
}
