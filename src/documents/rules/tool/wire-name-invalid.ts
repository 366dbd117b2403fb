import { subAgentsOf, textMember, toolsOf, wireNameOf } from '../../facts/agents/bindings.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { deriveWireName, WIRE_NAME } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolWireNameInvalid: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A wire name has 1 to 64 letters, digits, `_` and `-`: providers reject others.',
  fix: 'Give it a name with `as`: letters, digits, `_` and `-`, at most 64.',
  source: 'Authoring format, "Tool binding": `as`',
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const binding of [...toolsOf(document), ...subAgentsOf(document)]) {
      const wire = wireNameOf(workspace, binding)
      if (wire === undefined || wire === '' || WIRE_NAME.test(wire)) continue
      const list = binding.pointer.startsWith('/spec/tools/') ? 'tools' : 'agents'
      const as =
        textMember(binding.value, 'as') === undefined
          ? undefined
          : document.texts(`spec.${list}.*.as`).find(({ pointer }) => pointer === `${binding.pointer}/as`)
      report(
        as ?? `${binding.pointer}/ref`,
        `"${wire}" cannot be the name of a tool: providers take letters, digits, "_" and "-", at most 64.`,
        {
          fix: as === undefined ? 'Give it a name with `as`.' : replaceScalarFix(as, deriveWireName(wire)),
        },
      )
    }
  },
}
