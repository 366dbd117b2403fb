/**
 * Tools in forms that the vendor of the model takes, on the wire only: a vendor refuses a whole request for one name or keyword of
 * one tool. Names and arguments of the answer are put back before anything is checked, stored or shown.
 */
import { shortenText } from '../base/text/cut-text.ts'
import { isJsonObject, jsonDepth, type JsonValue } from '../base/json/json.ts'
import { findToolSchemaFaults, propertyPlaces, type VendorToolLimits } from '../spec/vendor-tool-limits.ts'
import {
  ProviderError,
  type CompletionRequest,
  type ModelCall,
  type ModelCompletion,
  type ModelMessage,
  type ModelProvider,
  type ModelTool,
} from './provider.ts'
import { mapNames, renameKeys, renameProperties, wrapSchema, WRAPPER, type NameMapping } from './vendor-schema.ts'

/** A tool on the wire, and the way back. */
interface ToolForm {
  readonly own: ModelTool
  readonly wire: ModelTool
  readonly isWrapped: boolean
  readonly names: NameMapping
}

/** Wraps a provider whose vendor has limits. */
export function withVendorToolForms(provider: ModelProvider, limits: VendorToolLimits | undefined): ModelProvider {
  if (limits === undefined) return provider
  return {
    async *complete(request, signal) {
      const forms = toToolForms(limits, request.tools)
      try {
        for await (const part of provider.complete(toWireRequest(request, forms), signal))
          yield part.type === 'end' ? { ...part, completion: toOwnCompletion(part.completion, forms) } : part
      } catch (error) {
        throw nameExcess(error, limits, request.tools)
      }
    },
  }
}

/** The tools of a request as the vendor takes them; the same tools always get the same forms. */
export function toToolForms(limits: VendorToolLimits, tools: readonly ModelTool[]): readonly ToolForm[] {
  const toolNames = mapNames(
    tools.map(({ name }) => name),
    limits.toolName,
  )
  return tools.map((own): ToolForm => {
    const { schema } = own
    const description =
      limits.longestDescription === undefined
        ? own.description
        : shortenText(own.description, limits.longestDescription - 1)
    const isWrapped = findToolSchemaFaults(limits, schema).some(({ kind }) => kind === 'root_keyword')
    const properties = isJsonObject(schema) ? propertyPlaces(schema, '').map(({ name }) => name) : []
    const names = mapNames(properties, limits.propertyName)
    const renamed = renameProperties(schema, names)
    const wire = { name: toolNames.toWire(own.name), description, schema: isWrapped ? wrapSchema(renamed) : renamed }
    return { own, wire, isWrapped, names }
  })
}

function toWireRequest(request: CompletionRequest, forms: readonly ToolForm[]): CompletionRequest {
  if (forms.every(isUnchanged)) return request
  const byName = new Map(forms.map((form) => [form.own.name, form]))
  const toWire = (message: ModelMessage): ModelMessage => {
    if (message.role === 'user') return message
    if (message.role === 'tool') return { ...message, name: byName.get(message.name)?.wire.name ?? message.name }
    return { ...message, calls: message.calls.map((call) => toWireCall(call, byName.get(call.name))) }
  }
  return { ...request, tools: forms.map(({ wire }) => wire), messages: request.messages.map(toWire) }
}

export function toWireCall(call: ModelCall, form: ToolForm | undefined): ModelCall {
  if (form === undefined || isUnread(call.arguments)) return call
  const named = renameKeys(call.arguments, form.names.toWire)
  return { ...call, name: form.wire.name, arguments: form.isWrapped ? { [WRAPPER]: named } : named }
}

function toOwnCompletion(completion: ModelCompletion, forms: readonly ToolForm[]): ModelCompletion {
  const byName = new Map(forms.map((form) => [form.wire.name, form]))
  return { ...completion, calls: completion.calls.map((call) => toOwnCall(call, byName.get(call.name))) }
}

/** A call as its tool knows it. Arguments without the wrapper that the schema asks for are taken as they are. */
export function toOwnCall(call: ModelCall, form: ToolForm | undefined): ModelCall {
  if (form === undefined) return call
  const { arguments: given } = call
  const isWrapped = form.isWrapped && isJsonObject(given) && Object.keys(given).join() === WRAPPER
  const { [WRAPPER]: inner = given } = isWrapped ? given : {}
  return { ...call, name: form.own.name, arguments: isUnread(given) ? given : renameKeys(inner, form.names.toOwn) }
}

const isUnchanged = ({ own, wire, isWrapped }: ToolForm): boolean =>
  !isWrapped && own.name === wire.name && own.description === wire.description && own.schema === wire.schema

/** Text that is no JSON stays the text that the model wrote. */
const isUnread = (value: JsonValue): boolean => isJsonObject(value) && '$unparsed' in value

/** Says of a refused request what could not be put into another form: limits that a vendor has raised meanwhile stop nobody. */
function nameExcess(error: unknown, limits: VendorToolLimits, tools: readonly ModelTool[]): unknown {
  if (!(error instanceof ProviderError) || error.retryable || error.status !== 400) return error
  const excess = describeExcess(error.message, limits, tools)
  if (excess === undefined) return error
  return new ProviderError(`${error.message.replace(/[.!?]$/, '')}. ${excess}`, {
    status: 400,
    retryable: false,
    cause: error,
  })
}

function describeExcess(
  message: string,
  { vendor, mostTools = Infinity, saysTooComplex }: VendorToolLimits,
  tools: readonly ModelTool[],
): string | undefined {
  if (tools.length > mostTools)
    return `${vendor} takes at most ${mostTools} tools, and this request has ${tools.length}: give groups of tools to sub-agents.`
  if (saysTooComplex?.test(message) !== true || tools.length === 0) return undefined
  const texts = tools.map(({ name, schema }) => ({ name, text: JSON.stringify(schema) }))
  const largestBy = (measure: (text: string) => number) =>
    texts.map(({ name, text }) => ({ name, size: measure(text) })).reduce((a, b) => (b.size > a.size ? b : a))
  const [deepest, longest] = [largestBy(jsonDepth), largestBy((text) => text.length)]
  return `The deepest schema is that of "${deepest.name}" (${deepest.size} levels), the longest that of "${longest.name}" (${longest.size} characters): write flatter ones, or give groups of tools to sub-agents.`
}
