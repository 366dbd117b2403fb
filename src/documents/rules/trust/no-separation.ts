import type { LintRule } from '../../facts/rule.ts'

export const trustNoSeparation: LintRule<'trust'> = {
  severity: 'warning',
  law: 'Nobody can publish and deploy an agent without somebody else.',
  fix: 'Take one of the two from them in `spec.grants` of trust.yaml, or ask for `count: 2`.',
  kinds: ['Agent'],
  needs: ['trust'],
  check(document, report, { trust }) {
    if (document.identity === undefined) return
    const { id } = document.identity
    for (const who of trust.loneReleasers(id))
      report('/metadata/name', `By ${trust.file}, ${who} can publish and deploy ${id} alone.`)
  },
}
