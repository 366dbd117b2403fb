import { BUILTIN_VERSION } from '../../../spec/snapshot.ts'
import { toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolUnpinned: LintRule = {
  severity: 'warning',
  law: 'A tool reference pins a version or a range.',
  fix: 'Add a range: `@^1.3`.',
  source: 'Authoring format, "Tool binding": the version is pinned in `ref`',
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const { ref, pointer, builtin } = use
      if (ref === undefined || ref.range !== undefined) continue
      const version = builtin ? BUILTIN_VERSION : toolDocument(workspace, use)?.identity?.version
      const place = document.placeOf(`${pointer}/ref`)
      if (version === undefined && use.value['mcp'] !== undefined) {
        report(place, `${ref.id} is not pinned: its MCP server decides what it is.`, {
          fix: `Add the Tool document ${ref.id} of version 1.0.0 and write ${ref.id}@^1.0.0; svc compile --mcp pins what the server lists.`,
        })
        continue
      }
      report(place, `${ref.id} is not pinned: any version may be chosen.`, {
        fix: version === undefined ? `Write ${ref.id}@^x.y.` : replaceScalarFix(place, `${ref.id}@^${version}`),
      })
    }
  },
}
