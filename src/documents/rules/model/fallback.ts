import { isOnlineProvider, OFFLINE_PROVIDERS, type ModelSpec } from '../../../spec/document.ts'
import { MODEL_FALLBACK, findModelFallback } from '../../facts/agents/model-fallback.ts'
import { isJsonObject } from '../../../base/json/json.ts'
import type { LintRule } from '../../facts/rule.ts'

export const modelFallback: LintRule = {
  severity: 'error',
  law: '`svc/model-fallback` lists further models, each shaped as `spec.model`, of known providers, none of them twice.',
  fix: 'Write a list of other models, such as "[{provider: openai, name: gpt-5}]".',
  reason: 'A fallback that cannot answer is found only when the first model fails.',
  kinds: ['Agent'],
  check(document, report, { providers, workspace }) {
    const [model] = document.at('spec.model')
    if (!model || !isJsonObject(model.value)) return
    for (const annotation of document.texts('metadata.annotations.*')) {
      if (annotation.key !== MODEL_FALLBACK) continue
      const fallback = findModelFallback(workspace, document, annotation.value, model.value as unknown as ModelSpec)
      if ('problem' in fallback) report(annotation, fallback.problem)
      else
        for (const { provider } of fallback.models)
          if (
            !isOnlineProvider(provider) &&
            !OFFLINE_PROVIDERS.includes(provider) &&
            !Object.hasOwn(providers, provider)
          )
            report(annotation, `"${provider}" is not a known provider; svc.config.yaml can map the name.`)
    }
  },
}
