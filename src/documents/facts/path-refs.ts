import type { Document, FoundText } from '../text/document.ts'
import { readAgentRef } from '../text/reference.ts'
import { INPUT_SCHEMA } from '../schemas/schemas.ts'
import { MODEL_FALLBACK, namesFallbackFile } from './agents/model-fallback.ts'
import { FILE_REFS } from '../workspace/texts.ts'

const PLACES = [
  'spec.root',
  ...FILE_REFS,
  'spec.default_policies.*.ref',
  'spec.tools.*.policies.*.ref',
  'spec.agents.*.policies.*.ref',
  'spec.model.provider_options.script',
]

/** Every path that a document names. */
export const pathsIn = (document: Document): readonly FoundText[] => document.memoize(readPaths)

function readPaths(document: Document): readonly FoundText[] {
  const agents = document.texts('spec.agents.*.ref').filter(({ value }) => /path/.test(readAgentRef(value).form))
  const contract = document
    .texts('metadata.annotations.*')
    .filter(({ key }) => document.kind === 'Agent' && key === INPUT_SCHEMA)
  const fallback = document
    .texts('metadata.annotations.*')
    .filter(({ key, value }) => document.kind === 'Agent' && key === MODEL_FALLBACK && namesFallbackFile(value))
  return [...PLACES.flatMap((place) => document.texts(place)), ...agents, ...contract, ...fallback]
}
