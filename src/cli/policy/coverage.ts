/** Coverage of policy tests: which truths each comparison had. Source: docs/design/policies.md#replay */
import { leavesOfEntry, type ConditionLeaf } from '../../policy/condition/condition.ts'
import { describeLeaf } from '../../policy/condition/describe.ts'
import type { DecisionExplanation } from '../../policy/explain/explain.ts'
import type { ExplainedNode } from '../../spec/explanation.ts'
import { isNeverUnknown } from '../../policy/prove/conditions.ts'
import { withoutSchema } from '../../policy/prove/possible-values.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { LeafPlaces } from './places.ts'

const TRUTHS = ['true', 'false', 'unknown'] as const
type LeafTruth = (typeof TRUTHS)[number]

export interface LeafCoverage {
  /** Place in the conditions: `conditions.any[1]`. */
  readonly node: string
  readonly text: string
  readonly source: string | null
  /** Truths that it can have and did not have in any test. */
  readonly missing: readonly LeafTruth[]
}

export interface PolicyCoverage {
  /** `namespace.name@version`. */
  readonly id: string
  /** Number of truths that its comparisons can have. */
  readonly nodes: number
  readonly covered: number
  readonly leaves: readonly LeafCoverage[]
}

export interface PolicySetCoverage {
  /** Covered share of all nodes, 0 to 100, rounded down; 100 where there are none. */
  readonly percent: number
  readonly policies: readonly PolicyCoverage[]
}

export interface CoverageCollector {
  /** Adds the comparisons of a set. */
  addSet(set: PolicySet, places: LeafPlaces): void
  /** Adds the truths of a decision. */
  addDecision(explanation: DecisionExplanation): void
  result(): PolicySetCoverage
}

interface KnownLeaf {
  readonly leaf: ConditionLeaf
  readonly text: string
  readonly node: string
  readonly source: string | null
  readonly seen: Set<LeafTruth>
}

export function createCoverageCollector(): CoverageCollector {
  const policies = new Map<string, Map<string, KnownLeaf>>()
  const see = (id: string, node: ExplainedNode): void => {
    if (node.node === 'leaf') policies.get(id)?.get(node.text)?.seen.add(node.truth)
    else node.children.forEach((child) => see(id, child))
  }
  return {
    addSet(set, places) {
      for (const entry of set.entries) {
        const id = `${entry.policy}@${entry.version}`
        const leaves = policies.get(id) ?? new Map<string, KnownLeaf>()
        policies.set(id, leaves)
        for (const [at, leaf] of leavesOfEntry(entry).entries()) {
          const text = describeLeaf(leaf)
          const place = places.of(id, text)
          if (!leaves.has(text))
            leaves.set(text, {
              leaf,
              text,
              node: place?.node ?? `conditions[${at}]`,
              source: place?.source ?? null,
              seen: new Set(),
            })
        }
      }
    },
    addDecision({ policies: considered }) {
      for (const { policy, version, tree } of considered) if (tree) see(`${policy}@${version}`, tree)
    },
    result() {
      const all = [...policies]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, leaves]) => coverageOf(id, [...leaves.values()]))
      const sum = (count: (each: PolicyCoverage) => number) => all.reduce((total, each) => total + count(each), 0)
      const nodes = sum((each) => each.nodes)
      return { percent: nodes === 0 ? 100 : Math.floor((100 * sum((each) => each.covered)) / nodes), policies: all }
    },
  }
}

function coverageOf(id: string, known: readonly KnownLeaf[]): PolicyCoverage {
  const leaves = known.map(({ leaf, seen, ...place }) => ({ ...place, possible: possibleTruths(leaf), seen }))
  return {
    id,
    nodes: leaves.reduce((sum, { possible }) => sum + possible.length, 0),
    covered: leaves.reduce((sum, { possible, seen }) => sum + possible.filter((truth) => seen.has(truth)).length, 0),
    leaves: leaves.map(({ node, text, source, possible, seen }) => ({
      node,
      text,
      source,
      missing: possible.filter((truth) => !seen.has(truth)),
    })),
  }
}

const possibleTruths = (leaf: ConditionLeaf): readonly LeafTruth[] =>
  leaf.op === 'exists' || leaf.op === 'type' || isNeverUnknown(leaf, withoutSchema) ? ['true', 'false'] : TRUTHS
