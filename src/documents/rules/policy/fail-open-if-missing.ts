import { gatedBindings } from '../../facts/attachments.ts'
import { inputOf } from '../../facts/inputs.ts'
import { mayBeAbsent } from '../../prove/value-domain.ts'
import { effectOf } from '../../facts/authority.ts'
import { leavesIn } from '../../facts/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const failOpenIfMissing: LintRule = {
  name: 'policy/fail-open-if-missing',
  severity: 'warning',
  law: 'A gate that lets a call pass because something is absent says why.',
  fix: 'Remove `if_missing: false`, or silence this rule with the reason.',
  source: 'Policies, section 2: `if_missing` replaces unknown',
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (effectOf(document) !== 'gate') return
    const schemas = gatedBindings(workspace, document).map((use) => inputOf(workspace, use)?.value)
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.ifMissing !== false || leaf.path.root !== 'args') continue
      // Where the schema itself leaves it optional, `policy/optional-field` asks for this.
      const optional = schemas.some((schema) => schema !== undefined && mayBeAbsent(schema, leaf.path.segments))
      if (!optional) report(`${pointer}/if_missing`, `Without ${leaf.path.text} this gate lets the call pass.`)
    }
  },
}
