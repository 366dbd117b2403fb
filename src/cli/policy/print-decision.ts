/** Prints decisions for `svc policy eval`, `explain` and `test`. Source: docs/design/policies.md#replay */
import type { JsonValue } from '../../base/json/json.ts'
import type { PolicyDecision } from '../../policy/condition/decision.ts'
import { decidingPolicy } from '../../policy/explain/deciding.ts'
import type { DecisionExplanation } from '../../policy/explain/explain.ts'
import type { ExplainedNode, ExplainedPolicy } from '../../spec/explanation.ts'
import { decisionMark } from '../../terminal/decision-mark.ts'
import type { Theme } from '../../terminal/theme.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { LeafPlaces } from './places.ts'

interface TraceEntry {
  readonly policy: string
  /** Place in the conditions: `conditions.all[0]`. */
  readonly node: string
  readonly op: string
  readonly left: JsonValue
  readonly right: JsonValue
  readonly result: string
  readonly source: string | null
}

/** The JSON of a decision. `trace`: every comparison and every `all`, `any` and `not` of the policies considered, in order. */
export function decisionJson({ decision, policies, turns }: DecisionExplanation, places: LeafPlaces) {
  return {
    decision: decision.decision,
    reason: decision.reasons[0] ?? null,
    explanation: decision.explanation,
    message: decision.message ?? null,
    approvalsRequired: decision.obligations?.approvals_required ?? null,
    timeout: decision.obligations?.timeout ?? null,
    by: decidingPolicy(decision, policies),
    trace: policies.flatMap((policy) => (policy.tree ? traceOf(policy, policy.tree, places) : [])),
    considered: policies.map(({ policy, version, effect, truth, fired, source }) => ({
      policy,
      version,
      decision: decisionOf(effect),
      result: truth,
      fired,
      source: source ?? null,
    })),
    wouldChange: turns,
    ...(decision.error !== undefined && { error: decision.error }),
  }
}

/** The decision type as documents spell it: a grant and a list are both `allow`. */
const decisionOf = (effect: string): string => (effect === 'grant' || effect === 'restrict' ? 'allow' : effect)

function traceOf({ policy, version }: ExplainedPolicy, root: ExplainedNode, places: LeafPlaces): TraceEntry[] {
  const walk = (node: ExplainedNode, path: string): TraceEntry[] => {
    if (node.node === 'leaf') {
      const place = places.of(`${policy}@${version}`, node.text)
      const { op, value = null, literal, truth } = node
      return [
        {
          policy,
          node: place?.node ?? path,
          op,
          left: value,
          right: literal,
          result: truth,
          source: place?.source ?? null,
        },
      ]
    }
    const below = node.children.flatMap((child, at) =>
      walk(child, node.node === 'not' ? `${path}.not` : `${path}.${node.node}[${at}]`),
    )
    return [{ policy, node: path, op: node.node, left: null, right: null, result: node.truth, source: null }, ...below]
  }
  return walk(root, 'conditions')
}

/** `require_approval  acme.refund-limit@1.0.0  args.amount > 100 (180)  approvals 1, after 30m deny`. */
export function decisionLine({ decision, policies }: DecisionExplanation): string {
  const by = decidingPolicy(decision, policies)
  const { obligations } = decision
  const decided = decision.policies[0]
  const list = policies.find((each) => each.fired && each.policy === by.policy && each.version === by.version)?.list
  const obligationsText = obligations && [
    `approvals ${obligations.approvals_required}`,
    ...(obligations.timeout ? [`after ${obligations.timeout.after_minutes}m ${obligations.timeout.default}`] : []),
  ]
  const parts =
    by.version === null
      ? [decision.decision, ...defaultParts(decision, policies)]
      : [decision.decision, `${by.policy}@${by.version}`, conditionText(decided?.condition, list)]
  return safeText([...parts, ...(obligationsText ? [obligationsText.join(', ')] : [])].join('  '))
}

/** `default for acme.refund-limit@1.0.0: condition false (40 > 100)`: names the policies that did not fire. */
function defaultParts(
  { decision, explanation }: PolicyDecision,
  policies: readonly ExplainedPolicy[],
): readonly string[] {
  if (decision !== 'allow' || policies.length === 0) return ['default', explanation]
  const idle = policies.map(({ policy, version, truth, tree, list }) => {
    const reason =
      tree && (truth === 'false' || list === undefined) ? `condition ${truth} (${seenIn(tree).join(', ')})` : list
    return `${policy}@${version}: ${reason ?? 'always'}`
  })
  const more = idle.length > MAX_NAMED ? [`${idle.length - MAX_NAMED} more`] : []
  return [`default for ${[...idle.slice(0, MAX_NAMED), ...more].join('; ')}`]
}

/** Policies named in one line; --explain lists all. */
const MAX_NAMED = 3

const seenIn = (node: ExplainedNode): string[] => (node.node === 'leaf' ? [node.seen] : node.children.flatMap(seenIn))

/** The condition, the list, or both, with their values; `always` for a policy with neither. */
const conditionText = (condition: string | undefined, list: string | undefined): string =>
  [condition, list].filter((part) => part !== undefined).join(' and ') || 'always'

/** The tree of every policy that applies, with values and truths, then what would change the outcome. */
export function explanationLines({ policies, turns }: DecisionExplanation, places: LeafPlaces, theme: Theme): string[] {
  return [
    ...policies.flatMap(({ policy, version, effect, fired, truth, list, tree, source }) => [
      `  ${fired ? decisionMark(theme, effect === 'restrict' ? 'deny' : decisionOf(effect)) : theme.dim('·')} ${safeText(`${policy}@${version}`)}  ${decisionOf(effect)}  ${safeText(conditionText(tree && truth, list))}${source ? `   ${theme.dim(safeText(source))}` : ''}`,
      ...(tree ? treeLines(tree, `${policy}@${version}`, places, theme, 3) : []),
    ]),
    ...turns.map((turn) => `  ${safeText(turn)}`),
  ]
}

function treeLines(node: ExplainedNode, policy: string, places: LeafPlaces, theme: Theme, depth: number): string[] {
  const indent = '  '.repeat(depth)
  if (node.node !== 'leaf')
    return [
      `${indent}${node.node}   ${node.truth}`,
      ...node.children.flatMap((child) => treeLines(child, policy, places, theme, depth + 1)),
    ]
  const place = places.of(policy, node.text)
  return [
    `${indent}${safeText(node.text)}   ${safeText(node.seen)}   ${node.truth}${place ? `   ${theme.dim(safeText(place.source))}` : ''}`,
  ]
}
