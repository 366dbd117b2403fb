import { proposeScalarFix } from '../text/diagnostic.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'
import type { LintRule } from './rule.ts'

/** The check that a key is declared under `secrets`. @param place dotted path of the key */
export const checkSecretDeclared =
  (place: string): NonNullable<LintRule['check']> =>
  (document, report) => {
    const declared = document.at('secrets.*').map(({ key }) => key)
    for (const use of document.texts(place)) {
      if (declared.includes(use.value)) continue
      const near = nearestCandidate(use.value, declared)
      report(use, `No secret "${use.value}" is declared.${didYouMean(near)}`, {
        fix: near === undefined ? `Add \`secrets: {${use.value}: {fromEnv: …}}\`.` : proposeScalarFix(use, near),
        meant: near,
      })
    }
  }
