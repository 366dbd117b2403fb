/**
 * Finds what a model costs, and how much it reads: in svc.config.yaml, else in the table of the package.
 * Source: docs/design/models-and-tools.md#costs
 */
import { isExternalModel } from '../../spec/external.ts'
import type { Instant } from '../../base/clock.ts'
import { digestOfJson } from '../../base/digest.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { PriceConfig, ProjectConfig, ProviderType } from '../../spec/project/config.ts'
import { providerSpellings } from '../../spec/document.ts'
import type { ModelPrice, ModelTerms, PriceOfModel, TokenRates } from '../../spec/price.ts'
import type { SnapshotModel } from '../../spec/snapshot.ts'
import published from './table.json' with { type: 'json' }
import { ownMember } from '../../base/json/own-member.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

type PricedModel = Pick<SnapshotModel, 'provider' | 'name' | 'base_url'>

/**
 * Terms of a model at a moment. An offline model is free, unless the config gives it a price for tests.
 * @param type and `address`: of the provider behind the model's provider name
 */
export function termsOf(
  model: PricedModel,
  type: ProviderType | undefined,
  address: string | undefined,
  own: ProjectConfig['prices'],
  now: Instant,
): ModelTerms {
  const given = findOwn(model, own)
  const listed = type === undefined ? undefined : findListed(model.name, vendorOf(type, address))
  const contextWindow = given?.context_window ?? listed?.context_window
  const isFree = isExternalModel(model) || (type !== undefined && OFFLINE_TYPES.includes(type))
  const published = isFree ? 'free' : ((listed && listedPrice(listed, now)) ?? 'unknown')
  const price: PriceOfModel = given ? toPrice(given) : published
  return { price, ...(contextWindow !== undefined && { contextWindow }) }
}

/** Day of the table's source, which is the version of its prices. */
export const PRICE_TABLE_VERSION = published.version

const OFFLINE_TYPES: readonly ProviderType[] = ['scripted', 'replay', 'auto']

function findOwn({ provider, name }: PricedModel, own: ProjectConfig['prices']): PriceConfig | undefined {
  for (const each of [provider, ...providerSpellings(provider)]) {
    const models = (own && ownMember(own, each)) ?? {}
    for (const key of [name, '*']) if (Object.hasOwn(models, key)) return models[key]
  }
  return undefined
}

/** Prices of the config by their entries: each completion asks three times, and the version is a digest. */
const ownPrices = new WeakMap<PriceConfig, ModelPrice>()

function toPrice(entry: PriceConfig): ModelPrice {
  let price = ownPrices.get(entry)
  if (!price) ownPrices.set(entry, (price = makePrice(entry)))
  return price
}

function makePrice({ currency = 'USD', input, output, cached_input, cache_write, reasoning }: PriceConfig): ModelPrice {
  const rates = {
    input,
    output,
    ...(cached_input !== undefined && { cached_input }),
    ...(cache_write !== undefined && { cache_write }),
    ...(reasoning !== undefined && { reasoning }),
  }
  const digest = digestOfJson(toJson({ ...rates, currency }))
  return { ...rates, currency, version: `svc.config.yaml ${digest.replace('sha256:', '').slice(0, 12)}` }
}

interface ListedModel {
  readonly names: readonly string[]
  readonly context_window?: number
  readonly prices: readonly ListedPrice[]
}

interface ListedPrice extends TokenRates {
  /** First day of the price; absent for the one that holds already. */
  readonly from?: string
  readonly tiers?: readonly (TokenRates & { readonly above: number })[]
}

interface ListedVendor {
  readonly hosts: readonly string[]
  readonly models: readonly ListedModel[]
}

const VENDORS: Readonly<Record<string, ListedVendor>> = published.vendors

const VENDOR_OF_TYPE: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'google',
  bedrock: 'aws',
}

/** A proxy in front of a vendor bills as the vendor does; a compatible server is known by its host alone. */
function vendorOf(type: ProviderType, address: string | undefined): ListedVendor | undefined {
  const id = VENDOR_OF_TYPE[type]
  if (id !== undefined) return VENDORS[id]
  return type === 'openai-compatible' && address !== undefined ? vendorAt(address) : undefined
}

/** Maximum number of cached vendors by address: a server has few, and each completion needs one. */
const vendorsByAddress = new Map<string, ListedVendor | undefined>()
const MAX_ADDRESSES = 1000

function vendorAt(address: string): ListedVendor | undefined {
  if (vendorsByAddress.has(address)) return vendorsByAddress.get(address)
  const hostname = parseUrl(address)?.hostname
  const vendor = Object.values(VENDORS).find(({ hosts }) => hostname !== undefined && hosts.includes(hostname))
  if (vendorsByAddress.size >= MAX_ADDRESSES) vendorsByAddress.clear()
  vendorsByAddress.set(address, vendor)
  return vendor
}

/** Ends of a name that date or number a release of the same model. */
const RELEASE = /(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|@default|-latest|-v\d+(?::\d+)?|:\d+)$/

const indexes = new WeakMap<ListedVendor, ReadonlyMap<string, ListedModel>>()

/** The model with exactly this name, else the one of which the name is a dated release. */
function findListed(name: string, vendor: ListedVendor | undefined): ListedModel | undefined {
  if (!vendor) return undefined
  let index = indexes.get(vendor)
  if (!index)
    indexes.set(vendor, (index = new Map(vendor.models.flatMap((model) => model.names.map((each) => [each, model])))))
  // A Bedrock name may carry both, such as `-20250929-v1:0`.
  const undated = name.replace(RELEASE, '')
  return index.get(name) ?? index.get(undated) ?? index.get(undated.replace(RELEASE, ''))
}

function listedPrice({ prices }: ListedModel, now: Instant): ModelPrice | undefined {
  const day = new Date(now).toISOString().slice(0, 10)
  const current = prices.findLast(({ from = '' }) => from <= day)
  if (!current) return undefined
  const { from: _, ...rates } = current
  return { ...rates, currency: 'USD', version: published.version }
}
