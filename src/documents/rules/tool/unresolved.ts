import { BUILTIN_VERSION } from '../../../spec/snapshot.ts'
import { toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { BUILTIN_TOOLS, fitsRange, isVersionRange } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'
import { nearestCandidate } from '../../text/suggest.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const toolUnresolved: LintRule = {
  severity: 'error',
  law: 'Each tool reference resolves to a Tool document. A binding routed to an MCP server may have none.',
  fix: 'Add the Tool document, publish it, or correct the reference.',
  reason: 'Without its document a tool has neither schema nor side-effect class.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace, published }) {
    for (const use of toolsOf(document)) {
      if (use.ref === undefined || toolDocument(workspace, use) !== undefined) continue
      const { id, range, namespace } = use.ref
      const at = document.texts('spec.tools.*.ref').find(({ pointer }) => pointer === `${use.pointer}/ref`)
      if (at === undefined || (range !== undefined && !isVersionRange(range))) continue
      const local = workspace.find(document, 'Tool', id).map(({ identity }) => identity.version)
      const versions = use.builtin ? [BUILTIN_VERSION] : [...new Set([...local, ...published.versions('Tool', id)])]
      if (versions.some((version) => fitsRange(version, range))) continue
      if (versions.length > 0) {
        report(
          at,
          `No version of ${id} satisfies ${range ?? '*'}: there ${versions.length === 1 ? 'is' : 'are'} ${versions.join(', ')}.`,
          { subject: [id, range ?? '*', ...versions] },
        )
        continue
      }
      if (use.value['mcp'] !== undefined && namespace !== 'svc') continue
      const ids = workspace.ids('Tool')
      const near = nearestCandidate(id, namespace === 'svc' ? BUILTIN_TOOLS : ids)
      report(at, `Tool "${id}" is not in this project.${near === undefined ? '' : ` Did you mean ${near}?`}`, {
        fix:
          near === undefined
            ? 'Add its Tool document, or publish it.'
            : proposeScalarFix(at, range === undefined ? near : `${near}@${range}`),
        meant: near,
        subject: [id],
      })
    }
  },
}
