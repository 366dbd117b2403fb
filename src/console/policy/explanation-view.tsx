/** Why a call is decided so: the sentence, every policy that was asked with its own lines, and what would change it. */
import { safeText } from '../../base/text/escape-text.ts'
import { isDecisionProof, PROOF_NAMES } from '../../spec/people/decision-proof.ts'
import type { ExplainedDecision, ExplainedNode, ExplainedPolicy, WrittenPolicy } from '../../spec/explanation.ts'
import { Badge } from '../parts/badge.tsx'
import type { View } from '../parts/view.ts'
import { Icon } from '../parts/icon.tsx'
import { DECISIONS, TRUTHS } from './truth.ts'
import { WrittenPolicyView } from './written-policy.tsx'

export const DecisionBadge = ({ decision }: { readonly decision: string }): View => {
  const [tone, icon, text] = DECISIONS[decision] ?? (['quiet', 'dot', safeText(decision)] as const)
  return <Badge tone={tone} icon={icon} text={text} />
}

export function ExplanationView({
  explained,
  documents,
}: {
  readonly explained: ExplainedDecision
  /** Those of this decision: edited ones in the place of the others, where it was made by them. */
  readonly documents: readonly WrittenPolicy[]
}): View {
  const { decision, explanation, by, policies, turns, assumed } = explained
  const needs = describeObligations(explained)
  const isDeciding = (each: ExplainedPolicy): boolean =>
    each.fired && each.policy === by.policy && each.version === by.version
  const writtenOf = ({ policy, version }: ExplainedPolicy): WrittenPolicy | undefined =>
    documents.find((each) => each.policy === `${policy}@${version}`)
  const rankOf = (each: ExplainedPolicy): number => {
    if (isDeciding(each)) return 0
    if (each.fired) return 1
    return writtenOf(each)?.isEdited === true ? 2 : 3
  }
  const sorted = [...policies].sort((a, b) => rankOf(a) - rankOf(b))
  return (
    <section class="explained">
      <p class="explained-head">
        <DecisionBadge decision={decision} />
        <span>{safeText(explanation)}</span>
      </p>
      {needs !== '' && <p class="dim">{safeText(needs)}</p>}
      {turns.length > 0 && (
        <p class="turns">
          <Icon name="right" />
          <span>
            It would be{' '}
            {turns.map((turn, at) => (
              <>
                {at > 0 && ', or '}
                <code key={turn}>{safeText(turn)}</code>
              </>
            ))}
          </span>
        </p>
      )}
      {assumed.length > 0 && (
        <p class="note waiting">
          <Icon name="warning" />
          <span>Counted now, because no policy had asked for it then: {safeText(assumed.join(', '))}</span>
        </p>
      )}
      {policies.length === 0 && <p class="dim">No policy concerns this call; the side-effect class decides.</p>}
      <ol class="asked">
        {sorted.map((policy) => (
          <AskedPolicy
            key={`${policy.policy}@${policy.version} ${policy.effect}`}
            policy={policy}
            isDeciding={isDeciding(policy)}
            written={writtenOf(policy)}
          />
        ))}
      </ol>
    </section>
  )
}

const EFFECTS: Readonly<Record<string, string>> = {
  grant: 'would allow',
  restrict: 'allows a list',
  require_approval: 'asks for an approval',
  escalate: 'escalates',
  deny: 'denies',
}

function AskedPolicy({
  policy,
  isDeciding,
  written,
}: {
  readonly policy: ExplainedPolicy
  readonly isDeciding: boolean
  readonly written: WrittenPolicy | undefined
}): View {
  const { policy: name, version, effect, truth, fired, source, list, tree } = policy
  const [tone, icon, word] = fired
    ? (['waiting', 'check', isDeciding ? 'decides' : 'applies'] as const)
    : ([TRUTHS[truth][0], TRUTHS[truth][1], 'does not apply'] as const)
  return (
    <li class={fired ? 'fired' : ''}>
      <p class="asked-head">
        <b>{safeText(name)}</b>
        <span class="dim">@{safeText(version)}</span>
        <Badge tone={tone} icon={icon} text={word} />
        <span class="dim">{EFFECTS[effect] ?? safeText(effect)}</span>
      </p>
      {list !== undefined && (
        <p>
          <code>{safeText(list)}</code>
        </p>
      )}
      {tree && (tree.node !== 'leaf' || !written) && (
        <ul class="tree">
          <TreeNode node={tree} />
        </ul>
      )}
      {written ? (
        <WrittenPolicyView written={written} policy={policy} />
      ) : (
        <p class="dim">
          {source === undefined ? (
            'svc itself asks this: it has no document.'
          ) : (
            <>
              <span class="place">{safeText(source)}</span> The text was not kept with this version; publish it again to
              see it here.
            </>
          )}
        </p>
      )}
    </li>
  )
}

function TreeNode({ node }: { readonly node: ExplainedNode }): View {
  const [tone, icon, word] = TRUTHS[node.truth]
  if (node.node === 'leaf')
    return (
      <li>
        <Badge tone={tone} icon={icon} text={word} /> <code>{safeText(node.text)}</code>
        <span class="dim">{safeText(node.seen)}</span>
      </li>
    )
  return (
    <li>
      <Badge tone={tone} icon={icon} text={word} /> <b>{node.node}</b>
      <ul>
        {node.children.map((child, at) => (
          <TreeNode key={at} node={child} />
        ))}
      </ul>
    </li>
  )
}

/** `Needs 2 approvals of the role treasurer; after 30 minutes deny.` */
function describeObligations({ obligations }: ExplainedDecision): string {
  const { approvals_required: count, approver_role: role, approval_proof: proof, timeout } = obligations
  if (typeof count !== 'number') return ''
  const who = typeof role === 'string' ? ` of the role ${role}` : ''
  const how = isDecisionProof(proof) && proof !== 'none' ? ` with ${PROOF_NAMES[proof]}` : ''
  const end = timeout as { after_minutes?: number; default?: string } | undefined
  const after = end?.after_minutes === undefined ? '' : `; after ${end.after_minutes} minutes ${end.default}`
  return `Needs ${count === 1 ? 'one approval' : `${count} approvals`}${who}${how}${after}.`
}
