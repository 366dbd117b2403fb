/** Time of a decision, and to compile a set. See README.md. */
import { evaluatePolicies } from '../../src/policy/evaluate-policies.ts'
import { decideByPolicies } from '../../src/policy/decide.ts'
import { factsOf, payments, rulesOf, setsOf } from './rules.ts'

const SIZES = [1, 20, 200]
const ROUNDS = Number(process.env['ROUNDS'] ?? 40)
/** Short, so that some rounds are not interrupted; long enough to pay for the garbage they make. */
const ROUND_MS = 10
/** Goal G17, for a set of 20. */
const GOALS = { size: 20, decisionUs: 5, compileMs: 5 }

const calls = payments.map(factsOf)
const misses: string[] = []

console.log('policies   verdict with trace   decision in words   first decision, set compiled')
for (const size of SIZES) {
  const rules = rulesOf(size)
  const sets = setsOf(rules)
  const verdictUs = bestMicroseconds((facts) => evaluatePolicies(sets, 'pay', facts))
  const wordsUs = bestMicroseconds((facts) => decideByPolicies(sets, 'pay', facts))
  const compileMs = Math.min(...Array.from({ length: 50 }, () => compileMilliseconds(rules)))
  console.log(
    String(size).padStart(8),
    `${verdictUs.toFixed(2)} us`.padStart(20),
    `${wordsUs.toFixed(2)} us`.padStart(19),
    `${compileMs.toFixed(2)} ms`.padStart(30),
  )
  if (size !== GOALS.size) continue
  if (verdictUs > GOALS.decisionUs) misses.push(`a decision took ${verdictUs.toFixed(2)} us`)
  if (compileMs > GOALS.compileMs) misses.push(`compiling took ${compileMs.toFixed(2)} ms`)
}
if (misses.length > 0) {
  console.log(`\nmissed: ${misses.join('; ')}`)
  process.exitCode = 1
}

/** Time of one decision in the best round. */
function bestMicroseconds(decide: (facts: (typeof calls)[number]) => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    let decided = 0
    const start = performance.now()
    let elapsed = 0
    while (elapsed < ROUND_MS) {
      for (const facts of calls) decide(facts)
      decided += calls.length
      elapsed = performance.now() - start
    }
    best = Math.min(best, (elapsed * 1000) / decided)
  }
  return best
}

function compileMilliseconds(rules: ReturnType<typeof rulesOf>): number {
  const sets = setsOf(rules)
  const start = performance.now()
  evaluatePolicies(sets, 'pay', calls[0]!)
  return performance.now() - start
}
