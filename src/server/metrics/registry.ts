/**
 * Counters and histograms in the text format of Prometheus. A metric has at most `MOST_SERIES` combinations of labels, whatever the
 * names of agents, tools and models are: what comes later is counted under `other`, so that a scrape stays small.
 */
import { cutText } from '../../base/cut-text.ts'

const MOST_SERIES = 500
/** A longer label is cut. */
const MOST_LABEL_CHARACTERS = 200
const OTHER = 'other'

/** Seconds, from a fast statement to a tool that takes minutes. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

type Labels<L extends string> = Readonly<Record<L, string>>

export interface Counter<L extends string> {
  add(labels: Labels<L>, by?: number): void
}

export interface Histogram<L extends string> {
  observe(labels: Labels<L>, seconds: number): void
}

export interface MetricRegistry {
  /** @param name ends with `_total` */
  counter<L extends string>(name: string, help: string, labels: readonly L[]): Counter<L>
  /** @param name ends with `_seconds` */
  histogram<L extends string>(name: string, help: string, labels: readonly L[]): Histogram<L>
  /** All metrics, in the order in which they were made. */
  text(): string
}

export function createMetricRegistry(): MetricRegistry {
  const metrics: (() => string)[] = []

  /** One value for each combination of labels. */
  function createSeries<L extends string, T>(names: readonly L[], create: () => T) {
    const values = new Map<string, T>()
    const find = (labels: Labels<L>): T => {
      let key = labelText(names.map((name) => [name, labels[name]]))
      if (!values.has(key) && values.size >= MOST_SERIES) key = labelText(names.map((name) => [name, OTHER]))
      const known = values.get(key)
      if (known !== undefined) return known
      const created = create()
      values.set(key, created)
      return created
    }
    return { values, find }
  }

  return {
    counter(name, help, names) {
      const { values, find } = createSeries(names, () => ({ count: 0 }))
      metrics.push(() =>
        describeMetric(
          name,
          'counter',
          help,
          [...values].map(([key, { count }]) => [name, key, count]),
        ),
      )
      return {
        add: (labels, by = 1) => {
          if (by > 0) find(labels).count += by
        },
      }
    },
    histogram(name, help, names) {
      const { values, find } = createSeries(names, () => ({ inBuckets: BUCKETS.map(() => 0), count: 0, sum: 0 }))
      metrics.push(() => {
        const lines = [...values].flatMap(([key, { inBuckets, count, sum }]): readonly Sample[] => [
          ...inBuckets.map((within, at): Sample => [`${name}_bucket`, join(key, `le="${BUCKETS[at]}"`), within]),
          [`${name}_bucket`, join(key, 'le="+Inf"'), count],
          [`${name}_sum`, key, sum],
          [`${name}_count`, key, count],
        ])
        return describeMetric(name, 'histogram', help, lines)
      })
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
    text: () => metrics.map((each) => each()).join(''),
  }
}

type Sample = readonly [name: string, labels: string, value: number]

const join = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(',')

/** `agent="acme.desk",status="failed"` */
const labelText = (labels: readonly (readonly [name: string, value: string])[]): string =>
  labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')

const escapeLabel = (value: string): string =>
  cutText(value, MOST_LABEL_CHARACTERS).text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')

/** A metric with its samples; nothing without any. */
function describeMetric(name: string, type: string, help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return ''
  const lines = samples.map(([sample, labels, value]) => `${sample}${labels === '' ? '' : `{${labels}}`} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** Values that are read when they are asked for. */
export const valuesText = (
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  values: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[],
): string =>
  describeMetric(
    name,
    type,
    help,
    values.map(([labels, value]) => [name, labelText(Object.entries(labels)), value]),
  )

export const gaugeText = (name: string, help: string, value: number): string =>
  valuesText(name, 'gauge', help, [[{}, value]])
