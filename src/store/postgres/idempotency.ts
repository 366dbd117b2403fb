import type { IdempotencyClaim } from '../start-outcome.ts'
import { toColumnText } from '../rows/json-column.ts'

export const toClaimColumns = (claim: IdempotencyClaim) => ({
  principal: claim.principal,
  route: claim.route,
  key: claim.key,
  body_digest: claim.bodyDigest,
  response: toColumnText(claim.response),
  expires_at: claim.expiresAt,
})
