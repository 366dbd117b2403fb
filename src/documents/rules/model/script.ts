import { isOnlineProvider } from '../../../spec/document.ts'
import { readModelScript } from '../../facts/agents/model-script.ts'
import { missingFile } from '../../facts/missing.ts'
import type { LintRule } from '../../facts/rule.ts'

export const modelScript: LintRule = {
  severity: 'error',
  essential: true,
  law: '`provider_options.script` of a model that is no online provider names a file with a list of turns, each of known keys.',
  fix: 'Correct the path, or the turn that is named.',
  reason: 'A script with a fault is found only when the agent is compiled.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const [provider] = document.texts('spec.model.provider')
    if (!provider || isOnlineProvider(provider.value)) return
    for (const ref of document.texts('spec.model.provider_options.script')) {
      const found = workspace.resolve(document, ref.value)
      const fault = missingFile(found, ref)
      if (fault !== undefined) report(ref, fault.message, fault.details)
      if (!('path' in found)) continue
      const script = readModelScript({ path: found.path, text: workspace.text(found.path) })
      if ('problem' in script) report(ref, script.problem)
    }
  },
}
