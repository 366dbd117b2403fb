/**
 * Counters and histograms. A metric has at most `MOST_SERIES` combinations of labels, whatever the
 * names of agents, tools and models are: what comes later is counted under `other`, so that a scrape stays small.
 */
import { cutText } from '../../base/text/cut-text.ts'

const MOST_SERIES = 500
/** A longer label is cut. */
const MOST_LABEL_CHARACTERS = 200
const OTHER = 'other'

/** Seconds, from a fast statement to a tool that takes minutes. */
export const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

type Labels<L extends string> = Readonly<Record<L, string>>

export interface Counter<L extends string> {
  add(labels: Labels<L>, by?: number): void
}

export interface Histogram<L extends string> {
  observe(labels: Labels<L>, seconds: number): void
}

/** A metric and its values, as both the text of Prometheus and OTLP are made of. */
export interface MetricFamily {
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly MetricSample[]
}

export type LabelValues = Readonly<Record<string, string>>

export interface MetricSample {
  readonly labels: LabelValues
  readonly value: number | HistogramValue
}

export interface HistogramValue {
  /** How many values are at most as large as each of `BUCKETS`. */
  readonly inBuckets: readonly number[]
  readonly count: number
  readonly sum: number
}

export interface MetricRegistry {
  /** @param name ends with `_total` */
  counter<L extends string>(name: string, help: string, labels: readonly L[]): Counter<L>
  /** @param name ends with `_seconds` */
  histogram<L extends string>(name: string, help: string, labels: readonly L[]): Histogram<L>
  /** All metrics that have values, in the order in which they were made. */
  collect(): readonly MetricFamily[]
}

export function createMetricRegistry(): MetricRegistry {
  const metrics: (() => MetricFamily)[] = []

  /** One value for each combination of labels. */
  function createSeries<L extends string, T>(names: readonly L[], create: () => T) {
    const values = new Map<string, { readonly labels: LabelValues; readonly value: T }>()
    const cut = (labels: Labels<L>): LabelValues =>
      Object.fromEntries(names.map((name) => [name, cutText(labels[name], MOST_LABEL_CHARACTERS).text]))
    const others = Object.fromEntries(names.map((name) => [name, OTHER]))
    const find = (labels: Labels<L>): T => {
      let shown = cut(labels)
      let key = labelText(shown)
      if (!values.has(key) && values.size >= MOST_SERIES) [shown, key] = [others, labelText(others)]
      const known = values.get(key)
      if (known !== undefined) return known.value
      const created = create()
      values.set(key, { labels: shown, value: created })
      return created
    }
    return { values, find }
  }

  return {
    counter(name, help, names) {
      const { values, find } = createSeries(names, () => ({ count: 0 }))
      metrics.push(() => ({
        name,
        kind: 'counter',
        help,
        samples: [...values.values()].map(({ labels, value }) => ({ labels, value: value.count })),
      }))
      return {
        add: (labels, by = 1) => {
          if (by > 0) find(labels).count += by
        },
      }
    },
    histogram(name, help, names) {
      const { values, find } = createSeries(names, () => ({ inBuckets: BUCKETS.map(() => 0), count: 0, sum: 0 }))
      metrics.push(() => ({ name, kind: 'histogram', help, samples: [...values.values()] }))
      return {
        observe(labels, seconds) {
          // A clock that was set back.
          const value = Math.max(0, seconds)
          const series = find(labels)
          series.count++
          series.sum += value
          BUCKETS.forEach((most, at) => {
            if (value <= most) series.inBuckets[at]!++
          })
        },
      }
    },
    collect: () => metrics.map((each) => each()).filter(({ samples }) => samples.length > 0),
  }
}

const join = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(',')

/** `agent="acme.desk",status="failed"` */
const labelText = (labels: LabelValues): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',')

const escapeLabel = (value: string): string =>
  cutText(value, MOST_LABEL_CHARACTERS).text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')

/** Metrics in the text format of Prometheus. */
export const printMetrics = (families: readonly MetricFamily[]): string =>
  families
    .map(({ name, kind, help, samples }) => {
      const lines = samples.flatMap(({ labels, value }) => linesOf(name, labelText(labels), value))
      return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`
    })
    .join('')

function linesOf(name: string, labels: string, value: number | HistogramValue): readonly string[] {
  const line = (of: string, more: string, shown: number): string => `${of}${more === '' ? '' : `{${more}}`} ${shown}\n`
  if (typeof value === 'number') return [line(name, labels, value)]
  const { inBuckets, count, sum } = value
  return [
    ...inBuckets.map((within, at) => line(`${name}_bucket`, join(labels, `le="${BUCKETS[at]}"`), within)),
    line(`${name}_bucket`, join(labels, 'le="+Inf"'), count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ]
}

/** Values that are read when they are asked for. */
export const valuesOf = (
  name: string,
  kind: 'gauge' | 'counter',
  help: string,
  values: readonly (readonly [labels: LabelValues, value: number])[],
): MetricFamily => ({ name, kind, help, samples: values.map(([labels, value]) => ({ labels, value })) })

export const gaugeOf = (name: string, help: string, value: number): MetricFamily =>
  valuesOf(name, 'gauge', help, [[{}, value]])
