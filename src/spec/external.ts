/**
 * Agents that stand for a client: their completions are handed in from outside, one for each call of the client.
 * Source: docs/design/gate.md#the-agent
 */
import type { ModelSpec } from './document.ts'

/** The built-in provider of their model. No entry of `providers:` changes what it means. */
export const EXTERNAL_PROVIDER = 'external'

export const isExternalModel = ({ provider }: Pick<ModelSpec, 'provider'>): boolean => provider === EXTERNAL_PROVIDER
