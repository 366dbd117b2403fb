/** What runs cost and how they end. */
import type { OperationTable } from './operation.ts'
import { described, integer, list, object, oneOf, optional, string, type ValueOf } from './schema.ts'
import { costSum } from './shared.ts'

const sumFields = {
  completions: integer,
  inputTokens: integer,
  cachedInputTokens: integer,
  cacheWriteTokens: integer,
  outputTokens: integer,
  reasoningTokens: integer,
  cost: costSum,
}
const costSums = object(sumFields)
/** Sums over completions. */
export type CostSums = ValueOf<typeof costSums>

const costView = object({
  agent: optional(string),
  version: described(optional(string), 'Label; empty for completions from before it was kept.'),
  provider: optional(string),
  model: optional(string),
  day: described(optional(string), 'UTC, `2026-11-23`.'),
  ...sumFields,
})
/** The sums of a group, with the values it was grouped by. */
export type CostView = ValueOf<typeof costView>

const runOutcomes = object({
  agent: string,
  version: string,
  runs: integer,
  open: integer,
  completed: integer,
  cancelled: integer,
  failures: described(
    list(object({ code: string, runs: integer })),
    'Failed runs by their error code, the most frequent first.',
  ),
  waited: described(
    object({ runs: integer, medianMs: integer, longestMs: integer, totalMs: integer }),
    'Over the runs that waited for people at all; a run that called another one waits with it.',
  ),
})
/** How runs of one version ended that began in a time. */
export type RunOutcomes = ValueOf<typeof runOutcomes>

const cellFields = {
  text: optional(string),
  href: described(optional(string), 'The screen that has more about it.'),
  at: described(optional(string), 'A moment, to be shown as its distance from now.'),
  hours: described(
    optional(list(object({ runs: integer, failed: integer }))),
    'Root runs that began in each hour, oldest first: a plot beside the text.',
  ),
}
const overviewCell = object(cellFields)
/** A value of an overview. */
export type OverviewCell = ValueOf<typeof overviewCell>

const overviewView = object({
  since: string,
  facts: list(object({ name: string, ...cellFields })),
  lists: described(
    list(
      object({
        title: string,
        heads: list(object({ text: string, align: described(optional(oneOf('right')), 'A column of numbers.') })),
        rows: list(list(overviewCell)),
      }),
    ),
    'Those that have rows.',
  ),
})
export type OverviewView = ValueOf<typeof overviewView>

export const insightOperations = {
  'GET /overview': {
    about:
      'How the last 24 hours went, as a page shows it; at most 5 seconds old. The server chooses the words, so that every client shows the same. All texts are escaped.',
    answer: overviewView,
  },
  'GET /outcomes': {
    about: 'Of the newest runs; `countedSince` where there are more in the time than were counted.',
    query: { agent: optional(string), since: optional(string) },
    answer: object({ items: list(runOutcomes), total: integer, counted: integer, countedSince: optional(string) }),
  },
  'GET /costs': {
    about:
      'Kept sums by `agent`, `model` and `day` (`by`, separated by commas), of whole days in UTC: the last 30 days, or from `since` to `until`. `sum` adds up all of them.',
    query: {
      by: described(optional(string), 'agent, version, model and day, separated by commas.'),
      agent: optional(string),
      since: optional(string),
      until: optional(string),
    },
    answer: object({ items: list(costView), total: integer, sum: costSums }),
  },
} satisfies OperationTable
