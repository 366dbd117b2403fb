/**
 * OpenAI's interfaces over deployed agents, on a prefix of their own: a model is an agent, a chat a session.
 * Source: docs/design/http.md#openais-interfaces
 */
import { fail } from '../../../base/failure.ts'
import { isExternalModel } from '../../../spec/external.ts'
import type { AuthenticatedCaller, IdentifyCaller } from '../../auth/auth.ts'
import { identifyBearer } from '../../auth/bearer.ts'
import { okReply } from '../../http/reply.ts'
import { type ApiRoute, readPathParam } from '../../http/route.ts'
import { intactVersion } from '../../../store/altered-versions.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { completeChat } from './chat-completions.ts'
import { toOpenAiProblem, toSeconds, type OpenAiHandler } from './openai-reply.ts'
import { cancelResponse, createResponse, getResponse } from './responses.ts'

export const OPENAI_PREFIX = '/compat/openai/v1'

export function openAiRoutes(services: ServerServices, identify: IdentifyCaller): readonly ApiRoute[] {
  const route = (method: ApiRoute['method'], path: string, handle: OpenAiHandler): ApiRoute => ({
    method,
    path: `${OPENAI_PREFIX}${path}`,
    async handle(call) {
      try {
        return await handle(services, call, await identifyBearer(services, identify, call))
      } catch (error) {
        return toOpenAiProblem(services, call, error)
      }
    },
  })
  return [
    route('GET', '/models', listModels),
    route('GET', '/models/:model', getModel),
    route('POST', '/chat/completions', completeChat),
    route('POST', '/responses', createResponse),
    route('GET', '/responses/:id', getResponse),
    route('POST', '/responses/:id/cancel', cancelResponse),
  ]
}

/** The agents that the caller may start. */
async function readModels({ store, workspace }: ServerServices, { principal }: AuthenticatedCaller) {
  const agents = await store.agents(workspace.id)
  const models = []
  for (const { id, name, deployedVersionId } of agents) {
    if (deployedVersionId === null || (principal.type === 'api_key' && principal.agentId !== id)) continue
    const version = await intactVersion(store, deployedVersionId)
    if (!version || isExternalModel(version.snapshot.model)) continue
    models.push({ id: name, object: 'model', created: toSeconds(version.publishedAt), owned_by: 'svc' })
  }
  return models
}

const listModels: OpenAiHandler = async (services, _call, caller) =>
  okReply({ object: 'list', data: await readModels(services, caller) })

const getModel: OpenAiHandler = async (services, call, caller) => {
  const name = readPathParam(call, 'model')
  const model = (await readModels(services, caller)).find(({ id }) => id === name)
  if (!model) throw fail('not_found', { what: `agent ${name}` })
  return okReply(model)
}
