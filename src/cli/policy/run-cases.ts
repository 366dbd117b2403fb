/** Runs the calls of policy tests. Source: docs/design/policies.md#replay */
import { stat } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { isFailure } from '../../base/failure.ts'
import { explainDecision, type DecisionExplanation } from '../../policy/explain/explain.ts'
import type { ExplainedNode } from '../../spec/explanation.ts'
import { pathOfAgent } from '../project/agent-path.ts'
import type { CommandContext } from '../shell/command.ts'
import { openProject, type Project } from '../project/project.ts'
import { compileBundleAt } from './bundle.ts'
import type { PolicyCase, PolicyTest } from './case-file.ts'
import type { CoverageCollector } from './coverage.ts'
import { placesOf, type LeafPlaces } from './places.ts'
import { hypotheticalFacts } from './hypothetical-call.ts'
import { compiledAgentOf } from '../release/build.ts'
import { calleeOf, policiesAlone, policyDocuments, policySetsOf, policySubjectOf, type EvalSubject } from './subject.ts'
import { decidingPolicy } from '../../policy/explain/deciding.ts'

/** A test whose policies are compiled. */
export interface PreparedCase {
  readonly subject: EvalSubject
  readonly places: LeafPlaces
}

export interface CasePreparer {
  /** @param file absolute path of the test */
  of(test: PolicyTest, file: string): Promise<PreparedCase>
}

/** Compiles each bundle once for all tests of a command. */
export function createCasePreparer(call: CommandContext): CasePreparer {
  const bundles = new Map<string, ReturnType<typeof compileBundleAt>>()
  const bundleOf = (project: Project, path: string) => {
    const known = bundles.get(path) ?? compileBundleAt(call, project, path)
    bundles.set(path, known)
    return known
  }
  return {
    async of({ bundle: named, agent, policies, calls }, file) {
      const project = await openProject(call, dirname(file))
      if (policies) {
        const { workspace, documents } = await policyDocuments(project, policies, dirname(file))
        const tools = calls.map(({ tool }) => tool)
        return { subject: policiesAlone(workspace, documents, tools), places: placesOf(documents) }
      }
      const path =
        named === undefined ? await pathOfAgent(project, agent, file) : await resolveBundle(named, project, file)
      const { bundle, documents } = await bundleOf(project, path)
      return { subject: policySubjectOf(bundle, compiledAgentOf(bundle, agent)), places: placesOf(documents) }
    },
  }
}

/** Resolves a bundle relative to the project, or, where the project has no such path, to the test. */
async function resolveBundle(named: string, { directory }: Project, file: string): Promise<string> {
  const path = resolve(directory, named)
  const isInside = !relative(directory, path).startsWith('..')
  return isInside && (await stat(path).catch(() => undefined)) ? path : resolve(dirname(file), named)
}

export interface DecidedCase {
  /** Absent where the call could not be decided at all. */
  readonly explanation?: DecisionExplanation
  /** `namespace.name@version`, or `default`. */
  readonly by?: string
  /** Lines about differences; empty = as expected. */
  readonly failure: readonly string[]
}

export function decideCase(
  { subject, places }: PreparedCase,
  each: PolicyCase,
  collector: CoverageCollector,
  now: number,
): DecidedCase {
  try {
    const { tool } = calleeOf(subject, each.tool)
    const facts = hypotheticalFacts({ subject, tool, args: each.args ?? {}, context: each.context ?? {}, now })
    const explanation = explainDecision(policySetsOf(subject), tool.wire_name, facts)
    collector.addDecision(explanation)
    const { policy, version } = decidingPolicy(explanation.decision, explanation.policies)
    const by = version === null ? policy : `${policy}@${version}`
    return { explanation, by, failure: differences(each, explanation, by, places) }
  } catch (error) {
    if (!isFailure(error)) throw error
    return { failure: [error.message, ...(error.fix ? [`fix:  ${error.fix}`] : [])] }
  }
}

function differences(expected: PolicyCase, explanation: DecisionExplanation, by: string, places: LeafPlaces): string[] {
  const { decision, obligations } = explanation.decision
  const found: string[] = []
  if (decision !== expected.expect) found.push(`expected ${expected.expect}   got ${decision}`)
  if (expected.by !== undefined && expected.by !== by && expected.by !== by.split('@')[0])
    found.push(`expected by ${expected.by}   got ${by}`)
  const approvals = obligations?.approvals_required ?? 0
  if (expected.approvals !== undefined && expected.approvals !== approvals)
    found.push(`expected approvals ${expected.approvals}   got ${approvals}`)
  return found.length === 0 ? [] : [...found, ...traceLines(explanation, places)]
}

/** Every comparison with its value, truth, document and line. */
const traceLines = ({ policies }: DecisionExplanation, places: LeafPlaces): string[] =>
  policies.flatMap(({ policy, version, list, tree, source }) => {
    const id = `${policy}@${version}`
    const leaves = (node: ExplainedNode): string[] => {
      if (node.node !== 'leaf') return node.children.flatMap(leaves)
      const place = places.of(id, node.text)?.source ?? source
      return [[node.text, node.seen, node.truth, ...(place === undefined ? [] : [place])].join('   ')]
    }
    const seen = tree ? leaves(tree) : []
    return tree && list === undefined ? seen : [...seen, `${id} ${list ?? 'always'}`]
  })
