/** Which policy decided. */
import type { ExplainedPolicy } from '../../spec/explanation.ts'
import type { PolicyDecision } from '../condition/decision.ts'

/** The policy that decided; `default` where the side-effect class did. */
export function decidingPolicy({ decision, policies: decided }: PolicyDecision, policies: readonly ExplainedPolicy[]) {
  const first = decided[0]
  const winner =
    first && policies.find(({ policy, version, fired }) => fired && policy === first.id && version === first.version)
  // Without a fired gate, an approval comes from the side-effect class.
  if (!winner || (decision === 'require_approval' && !policies.some(isGate)))
    return { policy: 'default', version: null, pointer: null, source: null }
  return {
    policy: winner.policy,
    version: winner.version,
    pointer: winner.pointer ?? null,
    source: winner.source ?? null,
  }
}

const isGate = ({ fired, effect }: ExplainedPolicy): boolean => fired && effect !== 'grant'
