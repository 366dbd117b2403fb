import { test } from 'vitest'
import { requirements, type RequirementId } from './requirements.ts'

/** A test that proves a sentence of the source documents; several may prove one. */
export function verifies(id: RequirementId, prove: () => Promise<void> | void): void {
  test(`${requirements[id].says} (${id})`, prove)
}
