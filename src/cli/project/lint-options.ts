import { fail } from '../../base/failure.ts'
import { isEssential } from '../../documents/lint/essential.ts'
import type { LintOptions } from '../../documents/lint/lint.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'

/** Why a severity of an essential rule is refused, as the end of a sentence. */
export const WHY_ESSENTIAL = 'a document that breaks this rule is not compiled.'

/** True for a severity that would let lint pass what compile refuses. */
export const weakensEssential = (rule: string, severity: string): boolean => isEssential(rule) && severity !== 'error'

/** What the configuration of a project says to lint. @throws Failure `config_invalid` where it decides about an essential rule */
export function lintOptionsOf({ lint, providers, prices, guardrails }: ProjectConfig): LintOptions {
  for (const [rule, severity] of Object.entries(lint?.rules ?? {}))
    if (weakensEssential(rule, severity))
      throw fail(
        'config_invalid',
        { what: `lint.rules sets ${rule} to ${severity}: ${WHY_ESSENTIAL}` },
        { fix: 'Remove the entry.' },
      )
  return {
    strict: lint?.profile === 'strict',
    ...(lint?.rules && { rules: lint.rules }),
    ...(providers && { providers }),
    ...(prices && { prices }),
    ...(guardrails && { guardrails: guardrails.map((path) => path.replace(/^\.\//, '')) }),
  }
}
