import { isExternalModel } from '../../../spec/external.ts'
import type { Document } from '../../text/document.ts'

/** True for an agent that stands for a client. */
export const isExternalAgent = (agent: Document): boolean =>
  agent.texts('spec.model.provider').some(({ value: provider }) => isExternalModel({ provider }))
