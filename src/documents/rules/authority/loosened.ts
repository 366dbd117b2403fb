import type { LintRule } from '../../facts/rule.ts'

export const authorityLoosened: LintRule<'loosened'> = {
  severity: 'error',
  law: 'A version allows no call that the published version before it stopped, unless somebody accepts the change.',
  fix: 'Revert it, accept it with a comment that says why, or publish it with `--allow-widen`.',
  reason: 'Agents gain authority only when a person has seen it.',
  crossFile: true,
  kinds: ['Agent'],
  needs: ['loosened'],
  check(document, report, { workspace, loosened }) {
    for (const { agent, change: say, place } of loosened) {
      if (agent !== document.identity?.id) continue
      const [path = '', line = '1'] = place?.split(/:(?=\d+$)/) ?? []
      const source = workspace.files.paths.includes(path) ? workspace.source(path) : undefined
      const start = source?.lineStart(Number(line))
      const at =
        source === undefined || start === undefined
          ? document.placeOf('/metadata/version')
          : { path, pointer: '', range: source.span(start, start + source.line(Number(line)).trimEnd().length) }
      report(at, `${agent} may do more than its published version: ${say}.`, {
        fix: 'Revert it, or publish it with --allow-widen when that is meant.',
      })
    }
  },
}
