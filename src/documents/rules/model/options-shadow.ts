import type { LintRule } from '../../facts/rule.ts'

export const modelOptionsShadow: LintRule = {
  severity: 'warning',
  law: '`provider_options` does not repeat settings that have their own field.',
  fix: 'Write it under `model.parameters`, or `model.reasoning`.',
  source: 'Authoring format, "spec.model"',
  kinds: ['Agent'],
  check(document, report) {
    for (const option of document.at('spec.model.provider_options.*')) {
      const field = Object.hasOwn(FIELDS, option.key) ? FIELDS[option.key] : undefined
      if (field === undefined) continue
      report({ ...option, range: option.keyRange }, `"${option.key}" has a field of its own: ${field}.`, {
        fix: `Write it as \`${field}\`.`,
      })
    }
  },
}

/** Provider options that have their own field in the format. */
const FIELDS: Readonly<Record<string, string>> = {
  temperature: 'model.parameters.temperature',
  top_p: 'model.parameters.top_p',
  max_tokens: 'model.parameters.max_output_tokens',
  max_output_tokens: 'model.parameters.max_output_tokens',
  max_completion_tokens: 'model.parameters.max_output_tokens',
  stop: 'model.parameters.stop_sequences',
  stop_sequences: 'model.parameters.stop_sequences',
  reasoning_effort: 'model.reasoning.effort',
  model: 'model.name',
  base_url: 'model.base_url',
}
