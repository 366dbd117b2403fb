/**
 * The annotation `svc/model-fallback`: further models of an agent, as YAML flow text or as the path of a file.
 * Source: docs/design/models-and-tools.md#attempts
 */
import type { JsonValue } from '../../../base/json/json.ts'
import { fromJsonList } from '../../../base/json/typed-json.ts'
import { API_VERSION, canonicalProvider, type ModelSpec } from '../../../spec/document.ts'
import type { Document } from '../../text/document.ts'
import { readValues } from '../../workspace/read.ts'
import { hasShape } from '../../workspace/shape.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const MODEL_FALLBACK = 'svc/model-fallback'

/** Trying more models would delay the run too long. */
const MAX_MODELS = 4

export type ModelFallback = { readonly models: readonly ModelSpec[] } | { readonly problem: string }

/** True where the annotation is the path of a file, and not the list itself. */
export const namesFallbackFile = (text: string): boolean => /^[^[{\s][^\n]*\.(?:ya?ml|json)$/.test(text)

/** Reads the annotation of an agent: the list itself, or the file of the bundle that it names. */
export function findModelFallback(
  workspace: Workspace,
  document: Document,
  text: string,
  first: ModelSpec,
): ModelFallback {
  if (!namesFallbackFile(text)) return readModelFallback(text, first)
  const found = workspace.resolve(document, text)
  return 'path' in found
    ? readModelFallback(workspace.text(found.path), first)
    : { problem: `${MODEL_FALLBACK} names the file "${text}", which is not there.` }
}

/** Reads the list, given the agent's own model. */
export function readModelFallback(text: string, first: ModelSpec): ModelFallback {
  const { values, findings } = readValues({ path: MODEL_FALLBACK, text })
  const [list] = values
  if (values.length !== 1 || findings.some(({ severity }) => severity === 'error') || !Array.isArray(list))
    return { problem: `${MODEL_FALLBACK} is a list of models, such as "[{provider: openai, name: gpt-5}]".` }
  if (list.length === 0 || list.length > MAX_MODELS)
    return { problem: `${MODEL_FALLBACK} names 1 to ${MAX_MODELS} models; these are ${list.length}.` }
  const wrong = list.findIndex((model) => !isModel(model))
  if (wrong >= 0)
    return { problem: `Model ${wrong + 1} of ${MODEL_FALLBACK} does not have the form of \`spec.model\`.` }
  const models = fromJsonList<ModelSpec>(list)
  const ids = [first, ...models].map(idOfModel)
  // `ids` has the model of the agent first.
  const twice = models.find((model, at) => ids.indexOf(idOfModel(model)) <= at)
  if (twice !== undefined) {
    const { provider, name } = twice
    return { problem: `${MODEL_FALLBACK} names the model ${provider}/${name} twice, or again after \`spec.model\`.` }
  }
  return { models }
}

/** Models of the annotation of an agent; none without the annotation or with a fault, which `model/fallback` reports. */
export const fallbackOf = (document: Document, workspace: Workspace, first: ModelSpec): readonly ModelSpec[] =>
  document
    .texts('metadata.annotations.*')
    .filter(({ key }) => key === MODEL_FALLBACK)
    .flatMap(({ value }) => {
      const fallback = findModelFallback(workspace, document, value, first)
      return 'models' in fallback ? fallback.models : []
    })

const idOfModel = ({ provider, name, base_url: address = '' }: ModelSpec): string =>
  JSON.stringify([canonicalProvider(provider), name, address])

/** Checked as the model of an otherwise complete document. */
const isModel = (model: JsonValue): boolean =>
  hasShape('agent', {
    apiVersion: API_VERSION,
    kind: 'Agent',
    metadata: { name: 'a', namespace: 'a', version: '1.0.0' },
    spec: { purpose: 'a', instructions: { text: 'a' }, model },
  })
