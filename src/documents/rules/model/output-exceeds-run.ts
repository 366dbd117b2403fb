import type { LintRule } from '../../facts/rule.ts'

export const modelOutputExceedsRun: LintRule = {
  severity: 'warning',
  law: '`max_output_tokens` is not larger than `max_tokens_per_run`.',
  fix: 'Lower `max_output_tokens`, or raise `max_tokens_per_run`.',
  source: 'Authoring format, "Limits": `max_output_tokens` caps a single response, `max_tokens_per_run` the run',
  check(document, report) {
    const answer = document.at('spec.model.parameters.max_output_tokens')[0]
    const run = document.at('spec.limits.max_tokens_per_run')[0]
    if (typeof answer?.value !== 'number' || typeof run?.value !== 'number' || answer.value <= run.value) return
    report(answer, `One completion may have ${answer.value} tokens, the whole run ${run.value}.`, {
      related: [{ path: run.path, range: run.range, message: 'the limit of the run' }],
    })
  },
}
