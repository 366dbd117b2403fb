/** Decisions a second, and the time to compile a set. See README.md. */
import { evaluatePolicies } from '../../src/policy/evaluate-policies.ts'
import { contestants, inputs, sink, type Decider } from './contestants.ts'
import { rulesOf, setsOf } from './rules.ts'

const SIZES = [1, 20, 200]
const ROUNDS = Number(process.env['ROUNDS'] ?? 40)
/** Short, so that each has some that nothing interrupts; long enough to pay for the garbage it makes. */
const ROUND_MS = 10

/** Gates of the goal on this. */
const GATES = { ofClosure: 0.6, ofCel: 1.5, ofCedar: 100, compileMs: 0.5 }

const failures: string[] = []
for (const size of SIZES) await compare(size)
compileTimes()
if (failures.length > 0) {
  console.log(`\nmissed: ${failures.join('; ')}`)
  process.exitCode = 1
}

async function compare(size: number): Promise<void> {
  const rules = rulesOf(size)
  const deciders = contestants.map(({ prepare }) => prepare(rules))
  await agree(deciders)
  const best = deciders.map(() => Number.POSITIVE_INFINITY)
  // In turns, and the best round of each: another program on the machine then slows nobody in particular.
  for (let round = 0; round < ROUNDS; round++)
    for (const [at, decider] of deciders.entries()) best[at] = Math.min(best[at]!, await nanoseconds(decider))
  const closure = best[0]!
  console.log(`\n${size} ${size === 1 ? 'policy' : 'policies'}`.padEnd(28), 'decisions/s', '   x closure')
  for (const [at, { name }] of contestants.entries())
    console.log(
      `  ${name.padEnd(26)}${Math.round(1e9 / best[at]!)
        .toLocaleString('en')
        .padStart(11)}${(closure / best[at]!).toFixed(3).padStart(13)}`,
    )
  const ours = best[contestants.findIndex(({ name }) => name === 'svc, verdict with trace')]!
  const cel = Math.min(...contestants.flatMap(({ name }, at) => (name.startsWith('CEL') ? best[at]! : [])))
  const cedar = best[contestants.findIndex(({ name }) => name === 'Cedar wasm')]!
  if (closure / ours < GATES.ofClosure) failures.push(`${size}: ${(closure / ours).toFixed(2)} x closure`)
  if (cel / ours < GATES.ofCel) failures.push(`${size}: ${(cel / ours).toFixed(2)} x CEL`)
  if (cedar / ours < GATES.ofCedar) failures.push(`${size}: ${Math.round(cedar / ours)} x Cedar`)
}

/** All must decide alike before their times mean anything. */
async function agree(deciders: readonly Decider[]): Promise<void> {
  for (const input of inputs) {
    const decisions = await Promise.all(deciders.map(async (decider) => await decider(input)))
    for (const [at, { name, twoValued }] of contestants.entries()) {
      const wanted = twoValued && decisions[0] !== 'allow' ? 'deny' : decisions[0]
      if (decisions[at] !== wanted)
        throw new Error(`${name}: ${decisions[at]} instead of ${wanted} for ${JSON.stringify(input.payment)}`)
    }
  }
}

/** Time of one decision, over a round. */
async function nanoseconds(decider: Decider): Promise<number> {
  const isAsync = decider(inputs[0]!) instanceof Promise
  let decided = 0
  const start = performance.now()
  let elapsed = 0
  while (elapsed < ROUND_MS) {
    for (const input of inputs) {
      if (isAsync) await decider(input)
      else void decider(input)
    }
    decided += inputs.length
    elapsed = performance.now() - start
  }
  return (elapsed * 1e6) / decided
}

function compileTimes(): void {
  console.log('\ncompile of a set, digest checked', '       ms')
  for (const size of [20, 200]) {
    const rules = rulesOf(size)
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < 50; round++) {
      const sets = setsOf(rules)
      const start = performance.now()
      sink.last = evaluatePolicies(sets, 'pay', inputs[0]!.facts)
      best = Math.min(best, performance.now() - start)
    }
    console.log(`  ${size} policies`.padEnd(32), best.toFixed(3).padStart(9))
    if (size === 20 && best > GATES.compileMs) failures.push(`compile of 20: ${best.toFixed(3)} ms`)
  }
}
