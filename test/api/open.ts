import type { RequirementId } from './requirements.ts'

/** Sentences that no test proves yet under their id. */
export const open: readonly RequirementId[] = []
