/**
 * Writes the price table of the package, `src/providers/prices/table.json`, from a release of @pydantic/genai-prices (MIT):
 *
 *     node scripts/prices.js 0.1.8 2026-09-23
 *
 * The second argument is the day of the release, which becomes the version of the table. A model is listed by its exact names;
 * each name is looked up in the source again, and left out unless the source gives it the same price.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [release, day] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(release ?? '') || !/^\d{4}-\d{2}-\d{2}$/.test(day ?? ''))
  throw new Error('Usage: node scripts/prices.js RELEASE YYYY-MM-DD')

/**
 * Vendors whose bill follows from model and tokens, with the hosts that serve them to compatible clients. Left out: Azure, where
 * a deployment's name does not say its model, OpenRouter, whose price depends on the route, DeepSeek, whose price depends on the hour,
 * and vendors with a fee per request.
 */
const VENDORS = {
  openai: ['api.openai.com'],
  anthropic: ['api.anthropic.com'],
  google: ['generativelanguage.googleapis.com'],
  aws: [],
  mistral: ['api.mistral.ai'],
  groq: ['api.groq.com'],
  'x-ai': ['api.x.ai'],
  together: ['api.together.xyz'],
  fireworks: ['api.fireworks.ai'],
  cerebras: ['api.cerebras.ai'],
  moonshotai: ['api.moonshot.ai', 'api.moonshot.cn'],
}
const KEYS = {
  input_mtok: 'input',
  cache_read_mtok: 'cached_input',
  cache_write_mtok: 'cache_write',
  output_mtok: 'output',
  output_reasoning_mtok: 'reasoning',
}

const directory = mkdtempSync(join(tmpdir(), 'svc-prices-'))
try {
  execFileSync('npm', ['pack', `@pydantic/genai-prices@${release}`, '--silent'], { cwd: directory })
  execFileSync('tar', ['xzf', `pydantic-genai-prices-${release}.tgz`], { cwd: directory })
  const root = join(directory, 'package')
  const source = createRequire(import.meta.url)(join(root, 'dist/index.cjs'))
  const table = {
    version: day,
    source: `@pydantic/genai-prices ${release}, https://github.com/pydantic/genai-prices`,
    license: readFileSync(join(root, 'LICENSE'), 'utf8').trim(),
    unit: 'USD per million tokens',
    vendors: Object.fromEntries(
      Object.entries(VENDORS).map(([id, hosts]) => [id, { hosts, models: modelsOf(source, id) }]),
    ),
  }
  writeFileSync(new URL('../src/providers/prices/table.json', import.meta.url), `${format(table)}\n`)
} finally {
  rmSync(directory, { recursive: true })
}

function modelsOf(source, id) {
  const taken = new Set()
  return source.findProvider({ providerId: id }).models.flatMap((model) => {
    const prices = pricesOf(model.prices)
    if (!prices) return []
    const names = [...new Set([model.id, ...namesIn(model.match)])]
      .filter((name) => !taken.has(name) && isPricedAlike(source, id, name, model.id))
      .sort((a, b) => (a < b ? -1 : 1))
    for (const name of names) taken.add(name)
    if (names.length === 0) return []
    return [{ names, ...(model.context_window && { context_window: model.context_window }), prices }]
  })
}

/** Names that stand in a match by themselves; a pattern or a conjunction names no model. */
function namesIn({ or, equals, starts_with: start, ends_with: end, contains }) {
  return or ? or.flatMap(namesIn) : [equals, start, end, contains].filter((name) => name !== undefined)
}

/** Looked up as the source does, so that a name that two models claim is only listed with its own. */
function isPricedAlike(source, id, name, model) {
  const timestamp = new Date(`${day}T12:00:00Z`)
  const found = source.calcPrice({ input_tokens: 1000, output_tokens: 1000 }, name, { providerId: id, timestamp })
  return found?.model.id === model
}

/** Prices of the day and announced ones, newest last; undefined where tokens alone do not make the price. */
function pricesOf(prices) {
  const all = Array.isArray(prices) ? prices : [{ prices }]
  if (all.some(({ constraint }) => constraint && constraint.type !== 'start_date')) return undefined
  const dated = all.map((each) => ({ from: each.constraint?.start_date ?? '', rates: ratesOf(each.prices) }))
  dated.sort((a, b) => (a.from < b.from ? -1 : 1))
  const current = dated.findLastIndex(({ from }) => from <= day)
  const kept = dated.slice(Math.max(0, current))
  if (kept.some(({ rates }) => rates === undefined)) return undefined
  return kept.map(({ from, rates }, at) => ({ ...(at > 0 && { from }), ...rates }))
}

function ratesOf(prices) {
  const found = Object.entries(KEYS).flatMap(([key, name]) =>
    prices[key] === undefined
      ? []
      : [[name, typeof prices[key] === 'number' ? { base: prices[key], tiers: [] } : prices[key]]],
  )
  const base = Object.fromEntries(found.map(([name, { base }]) => [name, toText(base)]))
  if (base.input === undefined || base.output === undefined) return undefined
  const starts = [...new Set(found.flatMap(([, { tiers }]) => tiers.map(({ start }) => start)))].sort((a, b) => a - b)
  const tiers = starts.map((above) => ({
    above,
    ...Object.fromEntries(
      found.map(([name, { base, tiers }]) => [
        name,
        toText(tiers.findLast(({ start }) => start <= above)?.price ?? base),
      ]),
    ),
  }))
  return { ...base, ...(tiers.length > 0 && { tiers }) }
}

/** A number of the source in plain decimal digits. */
function toText(number) {
  const text = number.toFixed(9).replace(/\.?0+$/, '')
  if (Number(text) !== number) throw new Error(`${number} has more than 9 decimals.`)
  return text
}

/** One model a line, so that a new release is read in its difference. */
function format({ vendors, ...about }) {
  const lines = Object.entries(vendors).map(([id, { hosts, models }]) => {
    const rows = models.map((model) => `        ${JSON.stringify(model)}`).join(',\n')
    return `    ${JSON.stringify(id)}: {\n      "hosts": ${JSON.stringify(hosts)},\n      "models": [\n${rows}\n      ]\n    }`
  })
  const head = Object.entries(about).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  return `{\n${head.join('')}  "vendors": {\n${lines.join(',\n')}\n  }\n}`
}
