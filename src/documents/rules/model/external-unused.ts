import { isExternalAgent } from '../../facts/agents/external.ts'
import type { LintRule } from '../../facts/rule.ts'

/** What only a model of one's own reads, by its path; what is said where it is set. */
const UNREAD: Readonly<Record<string, string>> = {
  'spec.model.base_url': 'nothing is asked',
  'spec.model.secret': 'nothing is asked',
  'spec.model.parameters': 'nothing is asked',
  'spec.model.reasoning': 'nothing is asked',
  'spec.model.provider_options': 'nothing is asked',
  'spec.limits.max_tokens_per_run': 'no tokens are counted',
  'spec.limits.max_subagent_depth': 'a client calls tools, not sub-agents',
  'spec.agents': 'a client calls tools, not sub-agents',
  output: 'there is no final output',
}

const UNREAD_ANNOTATIONS: ReadonlySet<string> = new Set([
  'svc/input-schema',
  'svc/model-fallback',
  'svc/max-cost-per-run',
  'svc/max-tokens-per-session',
  'svc/context',
])

export const modelExternalUnused: LintRule = {
  severity: 'warning',
  law: 'An agent that stands for a client (`provider: external`) sets nothing that only a model of its own would read.',
  fix: 'Remove it.',
  reason: 'Its completions are the calls of the client, so it would have no effect, and a reader would rely on it.',
  kinds: ['Agent'],
  check(document, report) {
    if (!isExternalAgent(document)) return
    for (const [path, why] of Object.entries(UNREAD))
      for (const { pointer } of document.at(path))
        report(pointer, `\`${path.split('.').at(-1)}\` has no effect with \`provider: external\`: ${why}.`)
    for (const annotation of document.allTexts('metadata.annotations.*'))
      if (UNREAD_ANNOTATIONS.has(annotation.key))
        report(annotation, `\`${annotation.key}\` has no effect with \`provider: external\`: nothing is asked.`)
  },
}
