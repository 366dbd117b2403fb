import { readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8')
const METRIC = /\b(?:svc|process)_[a-z_]+/g

/** Names of metrics, as a scrape has them. */
const made = new Set(
  [
    'src/server/runtime/load-metrics.ts',
    ...readdirSync(resolve(root, 'src/server/metrics')).map((file) => `src/server/metrics/${file}`),
  ].flatMap((path) =>
    [...read(path).matchAll(/'((?:svc|process)_[a-z_]+)'/g)].flatMap(([, name]) => [name!, `${name}_bucket`]),
  ),
)

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

const expressions = [
  ...(JSON.parse(read('deploy/grafana/svc.json')) as Dashboard).panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => [title, expr] as const),
  ),
  ...(parse(read('deploy/prometheus/alerts.yaml')) as Rules).groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr }) => [alert, expr] as const),
  ),
]

test.each(expressions)('%s asks for metrics that exist', (_, expression) => {
  const names = expression.match(METRIC) ?? []
  expect(names.length).toBeGreaterThan(0)
  expect(names.filter((name) => !made.has(name))).toEqual([])
})

test('the page lists every metric', () => {
  const listed = new Set(read('docs/telemetry.md').match(METRIC))
  expect([...made].filter((name) => !name.endsWith('_bucket') && !listed.has(name))).toEqual([])
})
