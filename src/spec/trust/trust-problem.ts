/** Why something that is signed is not believed. Source: docs/design/trust.md#order-of-checks */

/** The checks in their order; each is made only once all before it have passed. */
export const TRUST_STEPS = ['archive', 'envelope', 'key', 'signature', 'statement', 'grant', 'digest'] as const
export type TrustStep = (typeof TRUST_STEPS)[number]

/** The first check that failed. */
export class TrustProblem extends Error {
  override readonly name = 'TrustProblem'
  readonly step: TrustStep
  /** @param why completes a sentence: `it is signed by nobody` */
  constructor(step: TrustStep, why: string) {
    super(why)
    this.step = step
  }
}
