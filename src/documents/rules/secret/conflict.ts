import { closureOf } from '../../facts/agents/closure.ts'
import type { Document, FoundText } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import { segmentsOf } from '../../../base/json/pointer.ts'

export const secretConflict: LintRule = {
  severity: 'error',
  law: 'In a closure, a secret name maps to one environment variable.',
  fix: 'Use one name for each variable.',
  reason: 'A run has one value for each secret name.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const first = new Map<string, FoundText>()
    for (const secret of closureOf(workspace, document).flatMap(variablesOf)) {
      const name = secret.pointer
      const before = first.get(name)
      if (before === undefined) first.set(name, secret)
      else if (before.value !== secret.value)
        report(
          secret,
          `The secret "${nameOf(secret)}" is ${secret.value} here and ${before.value} in ${before.path}.`,
          {
            fix: 'Give each variable a name of its own.',
            related: [{ path: before.path, range: before.range, message: `${before.value} here` }],
          },
        )
    }
  },
}

const variablesOf = (agent: Document): readonly FoundText[] => agent.texts('secrets.*.fromEnv')

const nameOf = ({ pointer }: FoundText): string => segmentsOf(pointer).at(-2) ?? pointer
