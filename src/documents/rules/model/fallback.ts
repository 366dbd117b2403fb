import { isOnlineProvider, OFFLINE_PROVIDERS, type ModelSpec } from '../../../spec/document.ts'
import { MODEL_FALLBACK, findModelFallback } from '../../facts/agents/model-fallback.ts'
import { lacksProviderSecret } from '../../facts/agents/model-secret.ts'
import { isExternalModel } from '../../../spec/external.ts'
import { isJsonObject } from '../../../base/json/json.ts'
import { fromJson } from '../../../base/json/typed-json.ts'
import type { LintProject, LintRule } from '../../facts/rule.ts'

export const modelFallback: LintRule = {
  severity: 'error',
  law: '`svc/model-fallback` lists further models, each shaped as `spec.model`, of known providers, none of them twice, each with the secret that it needs.',
  fix: 'Write a list of other models, such as "[{provider: openai, name: gpt-5}]", and declare their secrets.',
  reason: 'A fallback that cannot answer is found only when the first model fails.',
  kinds: ['Agent'],
  check(document, report, { providers, workspace }) {
    const [model] = document.at('spec.model')
    if (!model || !isJsonObject(model.value)) return
    const declared = document.at('secrets.*').map(({ key }) => key)
    for (const annotation of document.allTexts('metadata.annotations.*')) {
      if (annotation.key !== MODEL_FALLBACK) continue
      const fallback = findModelFallback(workspace, document, annotation.value, fromJson<ModelSpec>(model.value))
      if ('problem' in fallback) report(annotation, fallback.problem)
      else
        for (const each of fallback.models) {
          const problem = problemOf(each, declared, providers)
          if (problem !== undefined) report(annotation, problem)
        }
    }
  },
}

function problemOf(
  { provider, name, secret, base_url: address }: ModelSpec,
  declared: readonly string[],
  providers: LintProject['providers'],
): string | undefined {
  if (isExternalModel({ provider })) return 'A client is no fallback for a model: `external` cannot be asked.'
  if (!isOnlineProvider(provider) && !OFFLINE_PROVIDERS.includes(provider) && !Object.hasOwn(providers, provider))
    return `"${provider}" is not a known provider; svc.config.yaml can map the name.`
  if (secret !== undefined)
    return declared.includes(secret)
      ? undefined
      : `The fallback ${provider}/${name} names the secret "${secret}", which is not declared.`
  if (!lacksProviderSecret({ provider, ...(address !== undefined && { base_url: address }) }, declared, providers))
    return undefined
  return `The fallback ${provider}/${name} has no secret: it names none, and none is named "${provider}".`
}
